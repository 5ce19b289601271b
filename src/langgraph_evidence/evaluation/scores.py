"""Every metric of one question's outcome, by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.evaluation.answers import cover_em, score_answer, score_facts, score_joint
from langgraph_evidence.evaluation.outcome import declined
from langgraph_evidence.evaluation.passages import score_passages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from langgraph_evidence.evaluation.answers import Overlap, SupportingFact
    from langgraph_evidence.evaluation.outcome import Outcome
    from langgraph_evidence.evaluation.question import Question

# Retrieval names the sentences of passage P as P#0, P#1, ... and its blocks as P:0, P:1, ...
_PART = re.compile(r"(?P<parent>.+)(?P<mark>[#:])(?P<position>\d+)")


def score_outcome(question: Question, outcome: Outcome) -> dict[str, float]:
    """Scores an outcome against its question.

    Args:
        question: With gold answers and, where the data set has them, gold passages and supporting facts.
        outcome: Of the same question; a failed one scores 0 everywhere.

    Returns:
        Scores in [0, 1] by name, and what the question cost (calls, tokens, seconds, passages). A metric that the data
        set has no gold for is left out. A declined answer is none given: `declined` counts it, and `em_given` and
        `f1_given` are those of given answers, left out where there is none. A run's supporting facts are its evidence,
        where that is made of sentences, else the sentences that its citations quote.
    """
    answer = score_answer(outcome["answer"], question.answers, style=question.style)
    scores = {
        **_named("", answer),
        "cover_em": cover_em(outcome["answer"], question.answers),
        "cover_em_words": cover_em(outcome["answer"], question.answers, whole_words=True),
        **_passage_scores(question, outcome),
        **_fact_scores(question, outcome, answer),
    }
    if "error" in outcome:
        scores = dict.fromkeys(scores, 0.0)
    scores |= _trust_scores(outcome, answer)
    usage = outcome["usage"]
    cost = {
        "calls": usage["calls"],
        "tokens": usage["input_tokens"] + usage["output_tokens"],
        "seconds": outcome["seconds"],
        "passages": len(outcome["evidence"]),
    }
    return {**scores, **{name: float(value) for name, value in cost.items()}}


def _trust_scores(outcome: Outcome, answer: Overlap) -> dict[str, float]:
    scores = {"declined": float(declined(outcome))}
    if outcome["answer"].strip():
        scores |= {"em_given": answer.em, "f1_given": answer.f1}
        scores |= {"support": outcome["support"]} if "support" in outcome else {}
    return scores


def _named(prefix: str, overlap: Overlap) -> dict[str, float]:
    return {f"{prefix}{name}": value for name, value in overlap._asdict().items()}


def _passage_scores(question: Question, outcome: Outcome) -> dict[str, float]:
    if not question.gold_passages:
        return {}
    own = {passage["id"] for passage in question.passages}
    found = [_parent(item["id"], question.gold_passages) for item in outcome["evidence"]]
    # An index that was built from other files has other ids: its passages are then compared by title.
    foreign = bool(own) and bool(found) and own.isdisjoint(_parent(item["id"], own) for item in outcome["evidence"])
    if foreign and question.gold_titles:
        score = score_passages([item["title"] for item in outcome["evidence"]], question.gold_titles)
    else:
        score = score_passages(found, question.gold_passages)
    return {f"passage_{name}": value for name, value in score._asdict().items()}


def _parent(name: str, known: tuple[str, ...] | set[str]) -> str:
    part = _PART.fullmatch(name)
    return name if name in known or part is None else part["parent"]


def _fact_scores(question: Question, outcome: Outcome, answer: Overlap) -> dict[str, float]:
    if not question.supporting_facts or not question.sentences:
        return {}
    predicted = _sentence_evidence(outcome) or list(_quoted_sentences(question, outcome))
    facts = score_facts(predicted, question.supporting_facts, style=question.style)
    return {**_named("fact_", facts), **_named("joint_", score_joint(answer, facts))}


def _sentence_evidence(outcome: Outcome) -> list[SupportingFact]:
    parts = [(item["title"], _PART.fullmatch(item["id"])) for item in outcome["evidence"]]
    return [(title, int(part["position"])) for title, part in parts if part and part["mark"] == "#"]


def _quoted_sentences(question: Question, outcome: Outcome) -> Iterator[SupportingFact]:
    passages = {passage["id"]: passage for passage in question.passages}
    for quote in outcome["citations"]:
        passage = passages.get(quote["passage_id"])
        if passage is None:
            continue
        for number, (start, end) in enumerate(_spans(passage["text"], question.sentences.get(passage["id"], ()))):
            if quote["quote_start"] < end and start < quote["quote_end"]:
                yield passage["title"], number


def _spans(text: str, sentences: Iterable[str]) -> Iterator[tuple[int, int]]:
    end = 0
    for sentence in sentences:
        start = text.find(sentence.strip(), end)
        end = start + len(sentence.strip())
        yield start, end
