"""The queries that could come next, each with what speaks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_evidence.llm.offline.evidence import bridges, met, residual
from langgraph_evidence.llm.offline.words import content_words, stem, stems, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.llm.offline.questions import ParsedQuestion


@dataclass(frozen=True)
class Candidate:
    """A query and its features; `kind` says how it was made."""

    query: str
    kind: str
    features: dict[str, float]

    def named(self, held: int) -> dict[str, float]:
        """The features under the names that weights have, for a query beside `held` passages of evidence."""
        group = self.kind.split("_")[0]
        own = {f"{group}/{name}": value for name, value in self.features.items()}
        return {f"kind/{self.kind}/{min(held, 1)}": 1.0, **own}


def proposed(question: ParsedQuestion, evidence: tuple[str, ...]) -> list[Candidate]:
    """All that can be asked now; no query is empty."""
    found = next_candidates(question, evidence) if evidence else first_candidates(question)
    return [candidate for candidate in found if candidate.query.strip()]


def first_candidates(question: ParsedQuestion) -> list[Candidate]:
    """What can be asked before there is evidence: the question, its clauses, its names, one side of a comparison."""
    length = len(content_words(question.text)) / 10
    count = len(question.names) / 4
    found = [Candidate(question.text, "question", {"length": length, "names": count})]
    for index, clause in enumerate(question.clauses):
        features = {"order": float(index), "share": _share(clause, question), "names": _named(clause, question)}
        found.append(Candidate(clause, "clause", features))
    for index, name in enumerate(question.names):
        features = {**_shape(name), "order": float(index), "alone": float(len(question.names) == 1), "length": length}
        found.append(Candidate(name, "name", features))
    for index, side in enumerate(question.sides or ()):
        features = {"order": float(index), **_shape(side)}
        found += [Candidate(_one_side(question, index), "side", features), Candidate(side, "side_alone", features)]
    return found


def next_candidates(question: ParsedQuestion, evidence: tuple[str, ...]) -> list[Candidate]:
    """What can be asked of the evidence: what it leaves open, and the new names it brings."""
    left = residual(question, evidence)
    openness = len(left) / max(len(content_words(question.text)), 1)
    found = [Candidate(question.text, "question", {"open": openness})]
    if left:
        found.append(Candidate(" ".join(left), "residual", {"open": openness, "words": len(left) / 10}))
    return [
        *found,
        *_sides_left(question, evidence),
        *_names_left(question, evidence, left=left),
        *_clauses_left(question, left=left),
        *_led_on(question, evidence, left=left),
    ]


def _sides_left(question: ParsedQuestion, evidence: tuple[str, ...]) -> list[Candidate]:
    found = []
    for index, side in enumerate(question.sides or ()):
        if not met(side, evidence):
            features = {"order": float(index), "mentioned": float(side in "\n".join(evidence)), **_shape(side)}
            found += [Candidate(side, "side_alone", features), Candidate(_one_side(question, index), "side", features)]
    return found


def _names_left(question: ParsedQuestion, evidence: tuple[str, ...], *, left: Sequence[str]) -> list[Candidate]:
    found = []
    for index, name in enumerate(question.names):
        if not met(name, evidence):
            mentioned = float(name in "\n".join(evidence))
            features = {**_shape(name), "order": float(index), "mentioned": mentioned, "open": len(left) / 10}
            tail = [word for word in left if stem(word) not in stems(name)]
            found += [Candidate(name, "name", features), Candidate(" ".join([name, *tail]), "name_tail", features)]
    return found


def _clauses_left(question: ParsedQuestion, *, left: Sequence[str]) -> list[Candidate]:
    open_stems = {stem(word) for word in left}
    found = []
    for index, clause in enumerate(question.clauses):
        openness = len(stems(clause) & open_stems) / max(len(stems(clause)), 1)
        features = {"order": float(index), "share": _share(clause, question), "open": openness}
        found.append(Candidate(clause, "clause", {**features, "names": _named(clause, question)}))
    return found


def _led_on(question: ParsedQuestion, evidence: tuple[str, ...], *, left: Sequence[str]) -> list[Candidate]:
    rest = _without_met(question, evidence)
    other_side = float(any(not met(side, evidence) for side in question.sides or ()))
    compared = stems(" ".join(question.sides or ()))
    found = []
    for bridge in bridges(question, evidence):
        tail = [word for word in left if stem(word) not in stems(bridge.name) | compared]
        features = {**bridge.features, "other_side": other_side, "compared": float(bool(question.sides))}
        found += [
            Candidate(bridge.name, "bridge", features),
            Candidate(" ".join([bridge.name, *tail]), "bridge_tail", features),
            Candidate(f"{rest} {bridge.name}", "bridge_rest", features),
        ]
    return found


def _shape(name: str) -> dict[str, float]:
    parts = name.split()
    return {
        "several_words": float(len(parts) > 1),
        "long": float(len(parts) > 2),
        "bracketed": float("(" in name),
        "digits": float(name[0].isdigit()),
    }


def _named(clause: str, question: ParsedQuestion) -> float:
    return sum(name in clause for name in question.names) / max(len(question.names), 1)


def _without_met(question: ParsedQuestion, evidence: tuple[str, ...]) -> str:
    text = question.text
    for name in question.names:
        if met(name, evidence):
            text = text.replace(name, "")
    return " ".join(text.split())


def _one_side(question: ParsedQuestion, index: int) -> str:
    left, right = question.sides or ("", "")
    kept, dropped = (left, right) if index == 0 else (right, left)
    rest = [word for word in content_words(question.text) if word not in words(left + " " + right)]
    return " ".join([kept, *rest]) if dropped else kept


def _share(clause: str, question: ParsedQuestion) -> float:
    return len(content_words(clause)) / max(len(content_words(question.text)), 1)
