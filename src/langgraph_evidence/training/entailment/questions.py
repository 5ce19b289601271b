"""Questions with their answers and evidence, from the multi-hop and reading data sets, as the pairs the head reads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from langgraph_evidence.models.entailment import content_stems, coverage, split_sentences
from langgraph_evidence.training.entailment.changes import change_name, change_number, like, names, near
from langgraph_evidence.training.entailment.pairs import NliPair

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

ANSWERS, QUESTIONS = " answers", " questions"
"""What a source's name ends with: a question with an answer, a question alone."""

_FLIPPED = {"yes": "no", "no": "yes"}
_AUXILIARY = frozenset("did do does can could would will should has have had".split())
_SUBJECT_QUESTION = re.compile(
    r"^(?:who|what|which(?: [a-z]+){1,2}|what (?:[a-z]+ )?[a-z]+) "
    r"((?:is|was|are|were|has|had|won|wrote|made|led|[a-z]{2,}ed|plays|stars|contains|holds|became|sang|built) .+)\?$",
    re.IGNORECASE,
)
_PLACE_QUESTION = re.compile(
    r"^(?P<ask>where|when|in (?:what|which) (?:year|city|country|state|town)) (?P<be>was|is|were|are) "
    r"(?P<rest>.+?) (?P<verb>born|located|founded|based|established|released|held|built|published|formed|created)\?$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Quote:
    """A sentence with the title of its passage, "" where it has none."""

    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.title}: {self.text}" if self.title else self.text


@dataclass(frozen=True)
class Asked:
    """One question with what answers it.

    Args:
        source: The data set.
        question: Ends with a question mark.
        answer: The right one, "" where the evidence has none.
        gold: The sentences that answer it together.
        others: Sentences of the same passages and others that do not.
        wrong: Answers to it that are wrong, of the same kind as the right one.
    """

    source: str
    question: str
    answer: str
    gold: tuple[Quote, ...]
    others: tuple[Quote, ...]
    wrong: tuple[str, ...] = field(default=())


def as_question(text: str) -> str:
    """A question with a question mark at its end."""
    return text.strip().rstrip("?. ").strip() + "?"


def wrong_answers(answer: str, question: str, text: str, rng: random.Random) -> list[str]:
    """Answers of the right one's kind but wrong: other names or numbers of the text, and a number near by."""
    flipped = _FLIPPED.get(answer.lower().strip())
    if flipped:
        return [flipped]
    found = like(answer, text, question)
    close = near(answer, rng)
    return [*rng.sample(found, min(len(found), 2)), *([close] if close else [])]


def written(question: str, answer: str, rng: random.Random) -> str:
    """A question and an answer as one hypothesis: side by side, or as the sentence they make."""
    chance = rng.random()
    if chance < 0.3 and answer.lower() not in _FLIPPED:
        said = sentence(question, answer)
        if said is not None:
            return said
    if chance > 0.9:
        return f"{question} {rng.choice(['It was {}.', 'The answer is {}.', 'It is {}.', '{}.']).format(answer)}"
    return f"{question} {answer}"


def sentence(question: str, answer: str) -> str | None:
    """The statement that a simple question and its answer make, None for other questions."""
    subject = _SUBJECT_QUESTION.match(question)
    if subject and subject[1].split(" ")[1] not in _AUXILIARY:
        return f"{answer[:1].upper()}{answer[1:]} {subject[1]}."
    place = _PLACE_QUESTION.match(question)
    if place and len(answer.split(" ")) < 6:
        return f"{place['rest'][:1].upper()}{place['rest'][1:]} {place['be']} {place['verb']} in {answer}."
    return None


def joined(quotes: Sequence[Quote], rng: random.Random, *, ordered: bool = False) -> str:
    """Quotes as one premise, in any order; now and then without their titles."""
    chosen = list(quotes)
    if not ordered:
        rng.shuffle(chosen)
    bare = rng.random() < 0.1
    return " ".join(quote.text if bare else str(quote) for quote in chosen)


def closest(quotes: Sequence[Quote], text: str, count: int) -> list[Quote]:
    """The quotes with the most words of the text."""
    stems = content_stems(text)
    return sorted(quotes, key=lambda quote: -coverage(stems, content_stems(str(quote))))[:count]


def pairs_of(asked: Asked, rng: random.Random) -> Iterator[NliPair]:
    """The pairs of one question."""
    if not asked.answer:
        yield from _unanswerable(asked, rng)
        return
    near_by = closest(asked.others, asked.question, 4)
    mixed = [*asked.gold, *rng.sample(near_by, min(len(near_by), rng.choice([0, 0, 1, 2])))]
    told, asks = f"{asked.source}{ANSWERS}", f"{asked.source}{QUESTIONS}"
    right = written(asked.question, asked.answer, rng)
    yield NliPair(told, joined(asked.gold, rng), right, "entailment")
    yield NliPair(told, joined(mixed, rng), written(asked.question, asked.answer, rng), "entailment")
    for answer in asked.wrong[:2]:
        yield NliPair(told, joined(mixed, rng), written(asked.question, answer, rng), "contradiction")
    for lacking in _lacking(asked, near_by, rng):
        yield NliPair(told, joined(lacking, rng), right, "not_entailment")
        yield NliPair(asks, joined(lacking, rng), asked.question, "not_entailment")
    changed = changed_question(asked, rng)
    if changed is not None:
        hypothesis = written(changed, asked.answer, rng)
        yield NliPair(told, joined(asked.gold, rng), hypothesis, "not_entailment", derived=True)
    yield NliPair(asks, joined(asked.gold, rng), asked.question, "entailment")
    yield NliPair(asks, joined(mixed, rng), asked.question, "entailment")


def _lacking(asked: Asked, near_by: list[Quote], rng: random.Random) -> Iterator[list[Quote]]:
    """Evidence that does not suffice: all gold sentences but those of one passage, and others of high overlap."""
    titles = list(dict.fromkeys(quote.title for quote in asked.gold))
    if len(titles) > 1:
        gone = rng.choice(titles)
        kept = [quote for quote in asked.gold if quote.title != gone]
        yield kept
        if near_by:
            yield [*kept, *rng.sample(near_by, min(len(near_by), rng.choice([1, 2])))]
    elif near_by:
        yield near_by[: rng.choice([1, 1, 2, 3])]


def _unanswerable(asked: Asked, rng: random.Random) -> Iterator[NliPair]:
    premise = joined(closest(asked.others, asked.question, rng.choice([1, 2, 4])), rng)
    yield NliPair(f"{asked.source}{QUESTIONS}", premise, asked.question, "not_entailment")
    for answer in asked.wrong[:1]:
        hypothesis = written(asked.question, answer, rng)
        yield NliPair(f"{asked.source}{ANSWERS}", premise, hypothesis, "not_entailment")


def changed_question(asked: Asked, rng: random.Random) -> str | None:
    """The question about something else, so that its answer is no longer what the evidence says."""
    others = [name for quote in asked.others[:8] for name in names(quote.text)]
    pool = [name for name in others if name.lower() not in str(asked.gold).lower()]
    if rng.random() < 0.3:
        return change_number(asked.question, "", rng)
    return change_name(asked.question, "", rng, pool)


def sentences_of(title: str, text: str) -> list[Quote]:
    """The sentences of a passage as quotes."""
    return [Quote(title, " ".join(part.split())) for part in split_sentences(text)]
