"""Furthest reasoning (section 3.1): the calls that propose plans, and the one that forces an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_evidence.budget import Allowance, total_usage
from langgraph_evidence.errors import ModelError, OutOfBudget, OutOfCalls, OutOfTime, UnusableReply
from langgraph_evidence.methods.furepa import assessor, prompts
from langgraph_evidence.methods.furepa.plans import context_of, history_of, parse_forced, read_plan
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.methods.furepa.state import Asking, FurepaState, Plan, plans_of_round
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from langgraph_evidence.llm.chat import LanguageModel
    from langgraph_evidence.llm.prompt import Prompt


def sample_of(state: FurepaState, settings: FurepaSettings, allowance: Allowance) -> Asking:
    """What a call for plans is sent: Q, E_t, and of the earlier steps what the mask leaves.

    A round in which no call went through is asked again by one call alone.
    """
    alone = bool(plans_of_round(state))
    return Asking(
        index=settings.plans_a_round if alone else 0,
        count=state["sampling"] if settings.native_n else 1,
        alone=alone,
        iteration=state["iteration"],
        temperature=state["temperature"],
        question=state["question"],
        context=context_of(state["evidence"], words=settings.evidence_words),
        history=history_of(state["steps"], settings.mask),
        settings=state["settings"],
        calls=allowance.calls,
        seconds=allowance.seconds,
    )


async def propose_plans(model: LanguageModel, sample: Asking) -> FurepaState:
    """Samples `count` plans p from the model and reads them (eqs. 1, 2); a call that failed becomes a failed plan.

    Raises:
        ModelError: No call went through and none can succeed later, or this one was asked alone.
    """
    settings = FurepaSettings(**sample["settings"])
    prompt = _prompt_of(sample, settings)
    values: dict[str, Any] = {name: sample[name] for name in ("question", "context", "history")}
    iteration, row = sample["iteration"], f"{sample['iteration']}:propose.{sample['index']}"
    try:
        replies = await model.sample(
            prompt,
            {name: values[name] for name in prompt.variables},
            n=sample["count"],
            temperature=sample["temperature"],
            seeds=_seeds(sample, settings) if settings.seed is not None or model.deterministic else None,
            native=settings.native_n,
            allowance=Allowance(sample["calls"], sample["seconds"]),
        )
    except ModelError as error:
        if not isinstance(error, OutOfBudget) and (sample["alone"] or not error.transient):
            raise
        # One of several that was out of calls has only lost its share; the round may go on without it.
        late = isinstance(error, OutOfTime) or (isinstance(error, OutOfCalls) and sample["alone"])
        name = f"{iteration}.{sample['index']}"
        lost = Plan(id=name, iteration=iteration, kind="late" if late else "failed", analysis="", text=str(error))
        return FurepaState(plans={name: lost}, ledger={row: error.usage or no_usage()})
    plans: dict[str, Plan] = {}
    for index, reply in enumerate(replies, start=sample["index"]):
        name = f"{iteration}.{index}"
        if reply.error:
            plans[name] = Plan(id=name, iteration=iteration, kind="failed", analysis="", text=reply.error)
        else:
            plans[name] = read_plan(name, iteration, reply.text, may_answer=bool(sample["context"]))
    return FurepaState(plans=plans, ledger={row: total_usage(reply.usage for reply in replies)})


def _seeds(sample: Asking, settings: FurepaSettings) -> list[int]:
    """One for each plan, different in every iteration; the last of an iteration is for the call that asks alone."""
    first = (settings.seed or 0) + sample["iteration"] * (settings.samples + 1) + sample["index"]
    return [first + i for i in range(sample["count"])]


async def force_answer(
    model: LanguageModel, state: FurepaState, settings: FurepaSettings, allowance: Allowance
) -> FurepaState:
    """Asks for the answer that the evidence at hand gives; without the time for it, the best one so far stands."""
    prompt, history = _force_prompt(state, settings)
    context = context_of(state["evidence"], words=settings.evidence_words)
    values: dict[str, Any] = {"question": state["question"], "context": context, "history": history}
    row = f"{state['iteration']}:force.0"
    try:
        reply = await model.ask(
            prompt,
            {name: values[name] for name in prompt.variables},
            parse=parse_forced,
            temperature=settings.answer_temperature,
            seed=settings.seed,
            allowance=allowance,
        )
    except UnusableReply as unusable:
        return FurepaState(answer="", stopped="no_answer", ledger={row: unusable.usage or no_usage()})
    except OutOfBudget as late:
        return FurepaState({**best_so_far(state), "stopped": "budget", "ledger": {row: late.usage or no_usage()}})
    analysis, answer = reply.value
    return FurepaState(answer=answer, analysis=analysis, stopped=state["cut"] or "forced", ledger={row: reply.usage})


def best_so_far(state: FurepaState) -> FurepaState:
    """The commonest answer that any round proposed, where no forced one can be asked for; without evidence none."""
    if not state["evidence"]:
        forced = state["cut"] == "forced"
        return FurepaState(answer="", stopped="no_evidence" if forced else state["cut"] or "budget")
    answers = [plan for plan in state["plans"].values() if plan["kind"] == "answer"]
    stopped = state["cut"] or "budget"
    if not answers:
        return FurepaState(answer="", stopped=stopped)
    plan = assessor.majority_answer(answers)
    return FurepaState(answer=plan["text"], analysis=plan["analysis"], stopped=stopped)


def _prompt_of(sample: Asking, settings: FurepaSettings) -> Prompt:
    """The prompt by sgn(t) (eq. 1), which is whether there is evidence, and by the mask (section 4.3)."""
    if not sample["context"]:
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
