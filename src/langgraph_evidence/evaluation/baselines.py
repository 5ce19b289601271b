"""What a method is compared with: one retrieval by the question itself, and one answer from what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_evidence.citations import LexicalVerifier
from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.methods.furepa.plans import context_of, parse_forced
from langgraph_evidence.methods.furepa.prompts import FORCE
from langgraph_evidence.methods.furepa.settings import FurepaSettings
from langgraph_evidence.retrieval.search import search
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from langchain_core.retrievers import BaseRetriever

    from langgraph_evidence.evaluation.outcome import Outcome
    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.evaluation.runner import Answerer
    from langgraph_evidence.llm.chat import LanguageModel
    from langgraph_evidence.types import Passage, Usage

    Retrievers = Callable[[Question], BaseRetriever]
    Counts = Callable[[Question], int]


def as_many_as(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many passages each run kept, by question id; a run that failed counts as the average of the others."""
    kept = {outcome["id"]: len(outcome["evidence"]) for outcome in outcomes if "error" not in outcome}
    average = max(1, round(sum(kept.values()) / len(kept))) if kept else 1
    return {outcome["id"]: kept.get(outcome["id"], average) for outcome in outcomes}


def one_shot(
    retrievers: Retrievers, count: Counts, *, model: LanguageModel | None = None, temperature: float | None = 0.0
) -> Answerer:
    """An answerer that searches once, with the question as the query.

    Args:
        retrievers: The retriever of a question, the same that the method had.
        count: How many passages a question gets.
        model: Answers from those passages with FuRePA's forced-answer prompt; without it only evidence is given.
        temperature: Of the model's calls; None sends none.
    """

    async def answer(question: Question) -> Mapping[str, Any]:
        k = count(question)
        evidence = await search(retrievers(question), question.question, k=k) if k else []
        if model is None:
            return {"answer": "", "evidence": evidence, "stopped": "retrieved", "usage": no_usage()}
        text, usage = await _answer_from(model, question.question, evidence, temperature=temperature)
        return {
            "answer": text,
            "evidence": evidence,
            "citations": LexicalVerifier().check(question.question, text, evidence).citations,
            "stopped": "answered" if text else "no_answer",
            "usage": usage,
        }

    return answer


async def _answer_from(
    model: LanguageModel, question: str, evidence: Sequence[Passage], *, temperature: float | None
) -> tuple[str, Usage]:
    context = context_of(evidence, words=FurepaSettings().evidence_words)
    values = {"question": question, "context": context}
    try:
        reply = await model.ask(FORCE, values, parse=parse_forced, temperature=temperature)
    except UnusableReply as unusable:
        return "", unusable.usage or no_usage()
    return reply.value[1], reply.usage
