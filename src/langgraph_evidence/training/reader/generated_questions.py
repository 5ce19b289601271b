"""Single-hop questions made by rule over plain passages: spans in quantity, where the real data has few.

Relations are read off by patterns of encyclopedic first sentences; clozes hide a name, date or number of a sentence.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from langgraph_evidence.text import STOP_WORDS
from langgraph_evidence.training.reader.data import RELATION_QUESTIONS, Example, join_passage, rows_of
from langgraph_evidence.training.reader.mixture import PASSAGES, multihop_rows, open_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from langgraph_evidence.training.base import DataFolder, Row

_NAME = r"([A-Z][\w.'’-]+(?: (?:of|de|von|van|the|and|&|la|del) [A-Z][\w.'’-]+| [A-Z][\w.'’-]+){0,4})"
_DATE = r"(\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4})"

# (relation, pattern with one group: the answer). Relations that RELATION_QUESTIONS lacks have their wordings below.
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (relation, re.compile(pattern))
    for relation, pattern in (
        ("director", rf"directed by {_NAME}"),
        ("producer", rf"produced by {_NAME}"),
        ("author", rf"written by {_NAME}"),
        ("composer", rf"composed by {_NAME}"),
        ("performer", rf"(?:song|single|album)[^.]{{0,40}} by (?:\w+ ){{0,4}}?{_NAME}"),
        ("record label", rf"(?:released|issued)[^.]{{0,50}} (?:on|by|through) {_NAME} Records"),
        ("publication date", rf"released (?:on|in) ({_DATE[1:-1]}|\d{{4}})"),
        ("date of birth", rf"\((?:[^()]{{0,60}}?; )?(?:born )?{_DATE}"),
        ("date of death", rf"\([^()]{{0,60}}\d{{4}}[^()]{{0,30}}? ?[–-] ?{_DATE}\)"),
        ("place of birth", rf"[Bb]orn (?:[^.]{{0,40}} )?in {_NAME}"),
        ("place of death", rf"died (?:[^.]{{0,40}} )?(?:in|at) {_NAME}"),
        (
            "country of citizenship",
            r"^[^.]{0,90}? (?:is|was) an? (?:former |retired |late )?([A-Z][a-z]+(?:an|ish|ese|ian|ch))\b",
        ),
        (
            "occupation",
            r"^[^.]{0,90}? (?:is|was) an? (?:[A-Z]\w+[ -])+([a-z][a-z ]+?(?:er|or|ist|ian|ess|ent|man))\b",
        ),
        ("father", rf"(?:son|daughter) of {_NAME}"),
        ("spouse", rf"(?:married|wife of|husband of|married to) {_NAME}"),
        ("educated at", rf"(?:educated at|studied at|graduated from|attended) (?:the )?{_NAME}"),
        ("headquarters location", rf"(?:headquartered|headquarters|based) in {_NAME}"),
        (
            "located in the administrative territorial entity",
            rf"^[^.]{{0,90}}(?:located|situated|lies|county|town|city|village|district|river) in (?:the )?{_NAME}",
        ),
        ("founded by", rf"founded (?:in \d{{4}} )?by {_NAME}"),
        ("inception", r"(?:founded|established|formed|created) in ((?:[A-Z][a-z]+ )?\d{4})"),
        ("cast member", rf"(?:starring|stars) {_NAME}"),
        ("population", r"population (?:of|was|is) (?:about |approximately )?(\d[\d,]+)"),
        ("named after", rf"named (?:after|for|in honou?r of) (?:the )?{_NAME}"),
        ("capital of", rf"capital (?:city )?of (?:the )?{_NAME}"),
        ("member of sports team", rf"(?:plays|played) for (?:the )?{_NAME}"),
        ("based on", rf"based on (?:the )?(?:\w+ ){{0,4}}{_NAME}"),
        (
            "genre",
            r"^[^.]{0,60}? (?:is|was) an? (?:\d{4} )?(?:[A-Z]\w+ )?([a-z -]+?) (?:film|novel|band|album|game|series)\b",
        ),
    )
)

_WORDINGS: dict[str, tuple[str, ...]] = RELATION_QUESTIONS | {
    "occupation": ("What is {}'s occupation?", "What did {} do for a living?", "What is the profession of {}?"),
    "inception": ("When was {} founded?", "In what year was {} established?", "When was {} formed?"),
    "cast member": ("Who stars in {}?", "Who is the star of {}?"),
    "population": ("What is the population of {}?", "How many people live in {}?"),
    "named after": ("Who is {} named after?", "What is {} named after?"),
    "capital of": ("What is {} the capital of?",),
    "member of sports team": ("Which team does {} play for?", "What team did {} play for?"),
    "based on": ("What is {} based on?",),
    "genre": ("What genre is {}?", "What kind of work is {}?"),
}

_CLOZES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"\b(?:in|In) ((?:1[5-9]|20)\d\d)\b"), ("In what year", "When", "In which year")),
    (re.compile(rf"\b{_DATE}\b"), ("When", "On what date")),
    (
        re.compile(r"\b(\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|twelve) [a-z]"),
        ("How many", "What number of"),
    ),
    (re.compile(rf"(?<=[a-z,] ){_NAME}"), ("Who", "What", "Which", "What name")),
)


def plain_passages(folder: DataFolder, held_out: Collection[int]) -> list[Row]:
    """The corpus without the gold passages of these folds' questions."""
    gold = {
        row["context"][index][0]
        for read in (multihop_rows, open_rows)
        for _, row in read(folder, held_out)
        for index in row["gold_idx"]
    }
    return [row for row in rows_of(folder, PASSAGES) if row["title"] not in gold]


def _subject(title: str) -> str:
    return re.sub(r" \([^)]*\)$", "", title)


def relation_questions(passage: Row) -> list[tuple[str, str]]:
    """The (relation, answer) pairs that the patterns read off a passage."""
    found = []
    for relation, pattern in _PATTERNS:
        match = pattern.search(passage["text"][:700])
        if match and match[1].lower() not in _subject(passage["title"]).lower():
            found.append((relation, match[1].strip(" .,")))
    return found


def cloze(sentence: str, rng: random.Random) -> tuple[str, str] | None:
    """A question that hides a name, date or number of a sentence, with some words dropped and some order lost."""
    pattern, words = rng.choice(_CLOZES)
    found = list(pattern.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found)
    before, after = sentence[: match.start(1)].split(), sentence[match.end(1) :].split()
    near = (before[-6:], after[:10]) if rng.random() < 0.5 else (before[-14:], after[:6])
    kept = [[w for w in part if w.lower() in STOP_WORDS or rng.random() > 0.3] for part in near]
    if len(kept[0]) + len(kept[1]) < 3:
        return None
    lead = rng.choice(words)
    order = [kept[1], kept[0]] if rng.random() < 0.6 else kept
    return " ".join([lead, *order[0], *order[1]]).rstrip(".,;: ") + "?", match[1].strip(" .,")


def generated_examples(passages: Sequence[Row], seed: int, limit: int) -> Iterator[Example]:
    """Up to `limit` examples over the passages in a random order: relations, clozes, and both over a wrong passage."""
    rng = random.Random(seed)
    order = rng.sample(range(len(passages)), len(passages))
    by_relation: dict[str, list[str]] = {}
    made = 0
    for place in order:
        for example in _of_passage(passages[place], rng, by_relation):
            yield example
            made += 1
            if made == limit:
                return


def _of_passage(passage: Row, rng: random.Random, by_relation: dict[str, list[str]]) -> Iterator[Example]:
    sentences = re.split(r"(?<=[a-z)]\.) (?=[A-Z])", passage["text"])
    found = relation_questions(passage)
    rng.shuffle(found)
    whole = _cut(passage["title"], sentences, rng)
    for relation, answer in found[:2]:
        question = rng.choice(_WORDINGS[relation]).format(_subject(passage["title"]))
        if answer in whole:
            yield Example("generated", question, (whole,), "span", (answer,))
        others = by_relation.setdefault(relation, [])
        if others and rng.random() < 0.6:
            yield Example("generated", question, (rng.choice(others[-50:]),), "none")
        others.append(whole)
    start = rng.randrange(len(sentences))
    asked = cloze(sentences[start], rng)
    if asked is not None:
        near = sentences[max(0, start - rng.randrange(3)) : start + 1 + rng.randrange(3)]
        yield Example("generated", asked[0], (join_passage(passage["title"], near),), "span", (asked[1],))


def _cut(title: str, sentences: Sequence[str], rng: random.Random) -> str:
    return join_passage(title, sentences[: rng.randrange(2, 6)])
