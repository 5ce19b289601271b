"""Furthest reasoning (section 3.1): the calls that propose plans, and the one that forces an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_evidence.budget import Allowance, spent, total_usage
from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.methods.furepa import assessor, prompts
from langgraph_evidence.methods.furepa.plans import context_of, history_of, parse_forced, read_plan
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.methods.furepa.state import FurepaState, FurepaUpdate, Plan, Sample, budget_of, settings_of
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from langgraph_evidence.llm.chat import LanguageModel
    from langgraph_evidence.llm.prompt import Prompt
    from langgraph_evidence.types import Stopped


def sample_of(state: FurepaState, *, index: int, count: int = 1) -> Sample:
    """What a call for `count` plans is sent: the question and E_t, and of the earlier steps what the mask leaves."""
    settings = settings_of(state)
    return Sample(
        index=index,
        count=count,
        iteration=state["iteration"],
        temperature=state["temperature"],
        question=state["question"],
        context=context_of(state["evidence"], words=settings.evidence_words),
        history=history_of(state["steps"], settings.mask),
        settings=state["settings"],
        seconds=budget_of(settings).seconds_left(spent(state["ledger"])),
    )


async def propose_plans(model: LanguageModel, sample: Sample) -> FurepaUpdate:
    """Samples `count` plans p from the model and reads them (eqs. 1, 2).

    Raises:
        ModelError: No call went through.
    """
    settings = FurepaSettings(**sample["settings"])
    prompt = _prompt_of(sample, settings)
    values: dict[str, Any] = {
        "question": sample["question"],
        "context": sample["context"],
        "history": sample["history"],
    }
    iteration = sample["iteration"]
    seeds = None
    if settings.seed is not None or model.deterministic:
        first = (settings.seed or 0) + iteration * (settings.samples + 1) + sample["index"]
        seeds = [first + i for i in range(sample["count"])]
    replies = await model.sample(
        prompt,
        {name: values[name] for name in prompt.variables},
        n=sample["count"],
        temperature=sample["temperature"],
        seeds=seeds,
        native=settings.native_n,
        allowance=Allowance(seconds=sample["seconds"]),
    )
    ledger = {f"{iteration}:propose.{sample['index']}": total_usage(reply.usage for reply in replies)}
    plans: dict[str, Plan] = {}
    for index, reply in enumerate(replies, start=sample["index"]):
        name = f"{iteration}.{index}"
        if reply.error:
            plans[name] = Plan(id=name, iteration=iteration, kind="failed", analysis="", text=reply.error)
        else:
            plans[name] = read_plan(name, iteration, reply.text)
    return FurepaUpdate(plans=plans, ledger=ledger)


async def force_answer(model: LanguageModel, state: FurepaState) -> FurepaUpdate:
    """Asks for the answer that the evidence at hand gives; a reply without one is asked for once more."""
    settings, so_far = settings_of(state), spent(state["ledger"])
    budget = budget_of(settings)
    prompt, history = _force_prompt(state, settings)
    context = context_of(state["evidence"], words=settings.evidence_words)
    values: dict[str, Any] = {"question": state["question"], "context": context, "history": history}
    row = f"{state['iteration']}:force.0"
    try:
        reply = await model.ask(
            prompt,
            {name: values[name] for name in prompt.variables},
            parse=parse_forced,
            temperature=None if settings.temperature is None else 0.0,
            allowance=Allowance(None if budget.allows(so_far, calls=2) else 1, budget.seconds_left(so_far)),
        )
    except UnusableReply as unusable:
        return FurepaUpdate(answer="", stopped="no_answer", ledger={row: unusable.usage or no_usage()})
    analysis, answer = reply.value
    return FurepaUpdate(answer=answer, analysis=analysis, stopped=why_forced(state), ledger={row: reply.usage})


def why_forced(state: FurepaState) -> Stopped:
    """Why the loop ended without a decided answer: its last iteration, or its budget."""
    return "forced" if state["iteration"] >= settings_of(state).iterations else "budget"


def best_so_far(state: FurepaState) -> FurepaUpdate:
    """The commonest answer that any round proposed, when the budget allows no forced one."""
    answers = [plan for plan in state["plans"].values() if plan["kind"] == "answer"]
    if not answers:
        return FurepaUpdate(answer="", stopped="budget")
    plan = assessor.majority_answer(answers)
    return FurepaUpdate(answer=plan["text"], analysis=plan["analysis"], stopped="budget")


def _prompt_of(sample: Sample, settings: FurepaSettings) -> Prompt:
    """The prompt by sgn(t) (eq. 1) and by the mask (section 4.3); without evidence it is still the first one."""
    if sample["iteration"] == 0 or not sample["context"]:
        return prompts.FIRST
    if settings.mask == "both_no_cot":
        return prompts.NEXT_NO_COT
    if not sample["history"]:
        return prompts.NEXT
    return prompts.NEXT_HISTORY_SCRATCH if settings.mask == "none_from_scratch" else prompts.NEXT_HISTORY


def _force_prompt(state: FurepaState, settings: FurepaSettings) -> tuple[Prompt, str]:
    """The forced answer's prompt, and the earlier steps that it shows."""
    if settings.mask == "both_no_cot":
        return prompts.FORCE_NO_COT, ""
    history = history_of(state["steps"], settings.mask)
    if not history or settings.mask == "none_mask_at_answer":
        return prompts.FORCE, ""
    return prompts.FORCE_HISTORY, history
