"""True answers with one fact changed, so that they are false: does a verifier still count them as supported?

Each kind changes one thing: a name, a number, a date, the sense (a negation, yes for no), or who did it to whom. The
new name, number or date comes from the evidence itself where that is safe (another answer to a question that has one),
else from elsewhere, and then stands nowhere in the evidence.

Made for measuring alone. The training of the entailment head makes changed pairs of its own in
`langgraph_evidence.training.entailment`; nothing here is shared with it, no rule, list or code, and only fold 7 and
beyond is read, so that a head that learnt its generator's ways is not measured by them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.evaluation.trust.details import (
    MONTHS,
    NUMBER_WORDS,
    dates,
    names,
    numbers,
    ordinal,
    share_word,
    value_of,
)
from langgraph_evidence.evaluation.trust.facts import TRIPLES, comparison
from langgraph_evidence.evaluation.trust.items import made
from langgraph_evidence.text import holds, split_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from random import Random

    from langgraph_evidence.evaluation.trust.details import Detail
    from langgraph_evidence.evaluation.trust.facts import Fact
    from langgraph_evidence.evaluation.trust.items import Item

    Class = tuple[str, bool]
    Pool = dict[Class, list[str]]


# Behind these a number or a year says a bound or a part, and another may be as true.
_BOUND = re.compile(
    r"\b(?:more than|over|under|below|above|least|most|than|about|around|nearly|almost|approximately|up to|only|least|"
    r"before|after|since|until|between|by|from|to|and|or|during|through|early|late|mid)[ -]*(?:the )?$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r" ?(?:[-–/]|(?:or|and|to) (?:\d|more|so)|times as|%? (?:or|to) )")
_SAFE_QUESTION = re.compile(
    r"(?:who|what|which|where|when|how many|how much|how old|how long|in what|in which)\b", re.IGNORECASE
)
_SEVERAL = re.compile(
    r"^(?:who|what|which) (?:are|were)\b|\b(?:one of|some|an? example|name an?|besides|other|another|which two|"
    r"include[sd]?|alongside|with|starr?ed|stars|plays?|played|sung|sang|members?)\b",
    re.IGNORECASE,
)
_ASKS_PLACE = re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|state|town|place)\b")
_BEFORE_PERSON = frozenset({"by", "actor", "actress", "director", "singer", "president", "writer", "author", "father"})
EVIDENCE, ELSEWHERE = "from the evidence", "from elsewhere"
# How often a detail of the evidence is taken, where one is safe; the others are too easily told by a mere look-up.
_NEAR = 0.5


def name_pool(facts: Iterable[Fact]) -> Pool:
    """The names of answers and statements by what they seem to be: what a name is exchanged for."""
    pool: Pool = {}
    for fact in facts:
        for name in _replaceable(fact):
            pool.setdefault(_class_of(fact, name), []).append(name.text)
    return {key: list(dict.fromkeys(found)) for key, found in pool.items()}


def _replaceable(fact: Fact) -> list[Detail]:
    """The names of an answer that may be exchanged: of a short one the whole, of a triple the thing."""
    found = names(f"of {fact.answer}")
    if fact.question:
        whole = [name for name in found if name.text == fact.answer.removeprefix("the ")]
    else:
        whole = found[-1:] if fact.source == TRIPLES else found
    return [name._replace(start=name.start - len("of "), end=name.end - len("of ")) for name in whole]


def _class_of(fact: Fact, name: Detail) -> Class:
    """What a name seems to be, by what is asked or by the words about it, and whether it is of several words."""
    several, asked = " " in name.text, fact.question.lower()
    before = fact.answer[: name.start].rstrip().rpartition(" ")[2].lower()
    if re.match(r"who\b|whose\b", asked) or before in _BEFORE_PERSON or _is_person(name.text, fact.text):
        return "person", several
    if _ASKS_PLACE.search(asked) or before in {"in", "at", "near"}:
        return "place", several
    return f"other {before}", several


def _is_plain(fact: Fact, name: Detail) -> bool:
    """Whether it is plain that a name names something: a single word of a statement may be an adjective."""
    return bool(fact.question) or " " in name.text or not _class_of(fact, name)[0].startswith("other")


def _is_person(name: str, text: str) -> bool:
    """Whether a text tells when the bearer of a name was born, or that it is somebody's trade."""
    told = r"\bborn\b|\d{4} ?(?:–|--?) |is an? \w+ (?:actor|actress|singer)"
    return re.search(rf"{re.escape(name.split()[-1])}\b[^.]{{0,60}}(?:{told})", text) is not None


def change_name(fact: Fact, pool: Pool, rng: Random) -> Item | None:
    """Another name in the place of one."""
    found = [name for name in _replaceable(fact) if holds(fact.text, name.text) and _is_plain(fact, name)]
    if not found or (fact.question and not _one_answer(fact)):
        return None
    name = rng.choice(found)
    single = bool(fact.question) or fact.source == TRIPLES
    near = _rivals(fact, name.text) if single else []
    if near and rng.random() < _NEAR:
        return made(fact, "name", EVIDENCE, _put(fact.answer, name, rng.choice(near)))
    new = _foreign(fact, pool.get(_class_of(fact, name), ()), rng)
    return made(fact, "name", ELSEWHERE, _put(fact.answer, name, new)) if new else None


def _one_answer(fact: Fact) -> bool:
    """Whether another answer from the same text would be wrong: no comparison, nothing that asks for several."""
    asked = fact.question
    return bool(_SAFE_QUESTION.match(asked)) and not comparison(asked) and not _SEVERAL.search(asked)


def _rivals(fact: Fact, old: str) -> list[str]:
    """Names of the evidence that are like the answer, not listed beside it, and in neither question nor answers."""
    like = len(old.split()) > 1
    known = " ".join((fact.question, *fact.answers, fact.answer))
    found = []
    for passage in fact.evidence:
        for sentence in split_sentences(passage["text"]):
            listed = holds(sentence.text, old)
            found += [
                name.text
                for name in names(sentence.text)
                if not listed and (len(name.text.split()) > 1) == like and not share_word(name.text, known)
            ]
    return list(dict.fromkeys(found))


def _foreign(fact: Fact, pool: Sequence[str], rng: Random) -> str:
    """A name of the pool that shares no word with anything the fact says."""
    said = " ".join((fact.question, fact.answer, *fact.answers, fact.text))
    for name in rng.sample(pool, min(20, len(pool))):
        if not share_word(name, said):
            return name
    return ""


def _put(text: str, old: Detail, new: str) -> str:
    return text[: old.start] + new + text[old.end :]


def change_number(fact: Fact, rng: Random) -> Item | None:
    """Another number in the place of the only one."""
    return _change_detail(fact, "number", (numbers, _other_number), rng)


def change_date(fact: Fact, rng: Random) -> Item | None:
    """Another date in the place of the only one: another day, month or year."""
    return _change_detail(fact, "date", (dates, _other_date), rng)


def _change_detail(
    fact: Fact, kind: str, ways: tuple[Callable[[str], list[Detail]], Callable[[str, Random], str]], rng: Random
) -> Item | None:
    find, other = ways
    found = find(fact.answer)
    if len(found) != 1 or (fact.question and not _one_answer(fact)):
        return None
    old = found[0]
    if (
        not holds(fact.text, old.text)
        or _BOUND.search(fact.answer[: old.start])
        or _GOES_ON.match(fact.answer[old.end :])
    ):
        return None
    near = _others_of(fact, old.text, find)
    if near and rng.random() < _NEAR:
        return made(fact, kind, EVIDENCE, _put(fact.answer, old, rng.choice(near)))
    new = other(old.text, rng)
    clean = not holds(f"{fact.text} {fact.question} {' '.join(fact.answers)}", new)
    return made(fact, kind, ELSEWHERE, _put(fact.answer, old, new)) if clean else None


def _others_of(fact: Fact, old: str, find: Callable[[str], list[Detail]]) -> list[str]:
    """Details of the evidence that are written like one of the answer and stand in neither question nor answers."""
    said = " ".join((fact.question, fact.answer, *fact.answers))
    found = [detail.text for passage in fact.evidence for detail in find(passage["text"])]
    return [text for text in dict.fromkeys(found) if _shape(text) == _shape(old) and not holds(said, text)]


def _shape(text: str) -> str:
    return re.sub(r"\d+", "0", re.sub("|".join(MONTHS), "M", text))


def _other_number(old: str, rng: Random) -> str:
    if old.lower() in NUMBER_WORDS:
        return rng.choice([word for word in NUMBER_WORDS[2:] if word != old.lower()])
    value = value_of(old)
    new = value + rng.choice([-1, 1]) * max(1, round(value * rng.choice([0.1, 0.2, 0.5])))
    new = new if new > 0 else value + 1
    if old[-2:] in {"st", "nd", "rd", "th"}:
        return ordinal(int(new))
    decimals = len(old.partition(".")[2])
    return f"{new:,.{decimals}f}" if "," in old else f"{new:.{decimals}f}"


def _other_date(old: str, rng: Random) -> str:
    month = re.search("|".join(MONTHS), old)
    parts = list(re.finditer(r"\d+", old))
    if month and rng.random() < _NEAR:
        new = rng.choice([name for name in MONTHS if name != month[0]])
        return old[: month.start()] + new + old[month.end() :]
    part = rng.choice(parts)
    day = len(part[0]) < len("1000")
    shift = rng.choice([1, 2, 3, 5, 7, 10])
    number = (int(part[0]) + shift - 1) % 28 + 1 if day else int(part[0]) + rng.choice([-1, 1]) * shift
    return old[: part.start()] + str(number) + old[part.end() :]
