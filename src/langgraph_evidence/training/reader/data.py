"""Examples for the reader, built the way the graphs will ask it: a question, one to six passages, an answer or none.

Every row gives complete evidence (answerable), evidence with one gold passage taken away (not answerable), the same
with distractors mixed in, gold sentences alone, and the single-hop questions its decomposition or triples hold.
"""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from langgraph_evidence.training.base import DataFolder, Row

AnswerKind = Literal["span", "yes", "no", "none", "some"]
"""`some`: the evidence answers the question, but where is not known (QNLI)."""


@dataclass(frozen=True)
class Example:
    """One question with its evidence.

    Args:
        source: The data set, as it is named in the results.
        question: The question.
        passages: The evidence, each as `Title: text`.
        kind: What a perfect reader replies.
        answers: The acceptable answers (of a span).
        gold: The passages in which the answer is looked for; all of them when empty.
    """

    source: str
    question: str
    passages: tuple[str, ...]
    kind: AnswerKind
    answers: tuple[str, ...] = ()
    gold: tuple[int, ...] = ()


# What a triple asks, for the relations frequent in 2WikiMultihopQA and MuSiQue; `{}` is its subject.
RELATION_QUESTIONS: dict[str, tuple[str, ...]] = {
    "director": ("Who directed {}?", "Who is the director of {}?", "director of {}"),
    "date of birth": ("When was {} born?", "What is the date of birth of {}?"),
    "country of citizenship": ("What nationality is {}?", "Which country is {} from?"),
    "father": ("Who is the father of {}?", "Who is {}'s father?"),
    "mother": ("Who is the mother of {}?", "Who is {}'s mother?"),
    "country": ("In which country is {}?", "What country is {} located in?"),
    "country of origin": ("Which country is {} from?",),
    "date of death": ("When did {} die?", "What is the date of death of {}?"),
    "place of birth": ("Where was {} born?", "What is the birthplace of {}?"),
    "place of death": ("Where did {} die?", "What is the place of death of {}?"),
    "publication date": ("When was {} released?", "When did {} come out?"),
    "spouse": ("Who is the spouse of {}?", "Who did {} marry?", "Who is {}'s husband or wife?"),
    "performer": ("Who performed {}?", "Who is the performer of {}?"),
    "composer": ("Who composed the music of {}?", "Who is the composer of {}?"),
    "author": ("Who wrote {}?", "Who is the author of {}?"),
    "educated at": ("Where did {} study?", "Which school did {} attend?"),
    "headquarters location": ("Where is the headquarters of {}?", "Where is {} based?"),
    "located in the administrative territorial entity": ("Where is {} located?", "In which region is {}?"),
    "record label": ("What record label is {} on?", "Which label released {}?"),
    "founded by": ("Who founded {}?",),
    "producer": ("Who produced {}?",),
    "child": ("Who is the child of {}?",),
    "sibling": ("Who is the sibling of {}?",),
}


def rows_of(folder: DataFolder, name: str, folds: Collection[int] | None = None) -> list[Row]:
    """The rows of a data set, of all folds or of some; none when the folder lacks it."""
    if folder.find(f"{name}.jsonl") is None:
        return []
    return [row for row in folder.rows(f"{name}.jsonl") if folds is None or fold_of(row) in folds]


def fold_of(row: Row) -> int:
    """The row's fold; rows without one are spread by the hash of their id."""
    fold = row.get("fold")
    return int(fold) if fold is not None else zlib.crc32(str(row["id"]).encode()) % 10


def join_passage(title: str | None, sentences: Sequence[str]) -> str:
    """`Title: text` with single spaces."""
    text = " ".join(" ".join(sentences).split())
    return f"{title}: {text}" if title else text


def _answers(row: Row) -> tuple[str, ...]:
    return (str(row["answer"]), *(str(alias) for alias in row.get("answer_aliases") or ()))


def _kind(answers: Sequence[str]) -> AnswerKind:
    first = answers[0].strip().lower()
    return "yes" if first == "yes" else "no" if first == "no" else "span"


class ExampleMaker:
    """Builds the examples of rows; the same seed gives the same examples.

    Args:
        seed: Chooses distractors, orders and which gold passage is left out.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def complete(self, row: Row, source: str, distractors: int, *, thinned: float = 0.0) -> Example:
        """The gold passages, in a random order, among so many distractors.

        Args:
            row: A multi-hop row.
            source: Its data set.
            distractors: How many other passages.
            thinned: The chance that a sentence which is no supporting fact is left out, where these are known.
        """
        gold = list(row["gold_idx"])
        chosen = gold + self._others(row, distractors)
        self._rng.shuffle(chosen)
        passages = tuple(join_passage(row["context"][i][0], self._thinned(row, i, thinned)) for i in chosen)
        answers = _answers(row)
        places = tuple(place for place, i in enumerate(chosen) if i in gold)
        return Example(source, row["question"], passages, _kind(answers), answers, places)

    def _thinned(self, row: Row, place: int, chance: float) -> list[str]:
        title, sentences = row["context"][place]
        facts = {index for name, index in row.get("supporting_facts") or () if name == title}
        if not facts or not chance or not row.get("sentence_split", True):
            return list(sentences)
        return [text for index, text in enumerate(sentences) if index in facts or self._rng.random() >= chance]

    def incomplete(self, row: Row, source: str, *, replaced: bool, distractors: int = 0) -> Example | None:
        """One gold passage left out, or replaced by a distractor, among so many more; None for a row with one gold one.

        More distractors than none are needed in training: else many passages would mean that they suffice.
        """
        gold = list(row["gold_idx"])
        if len(gold) < 2:
            return None
        gold.pop(self._rng.randrange(len(gold)))
        chosen = gold + self._others(row, replaced + distractors)
        self._rng.shuffle(chosen)
        return Example(source, row["question"], tuple(join_passage(*row["context"][i]) for i in chosen), "none")

    def _others(self, row: Row, count: int) -> list[int]:
        others = [i for i in range(len(row["context"])) if i not in row["gold_idx"]]
        return self._rng.sample(others, min(count, len(others)))

    def sentences(self, row: Row, source: str) -> Iterator[Example]:
        """Gold sentences alone: all of them, and without those of one title."""
        titles = dict(row["context"])
        facts: dict[str | None, list[str]] = {}
        for title, index in row.get("supporting_facts") or ():
            if title in titles and index < len(titles[title]):
                facts.setdefault(title, []).append(titles[title][index])
        yield from self.of_sentences(row, source, facts)

    def of_sentences(self, row: Row, source: str, facts: Mapping[str | None, list[str]]) -> Iterator[Example]:
        """As `sentences`, from the sentences of each title."""
        if len(facts) < 2:
            return
        passages = [join_passage(title, texts) for title, texts in facts.items()]
        self._rng.shuffle(passages)
        answers = _answers(row)
        yield Example(source, row["question"], tuple(passages), _kind(answers), answers)
        passages.pop(self._rng.randrange(len(passages)))
        yield Example(source, row["question"], tuple(passages), "none")

    def hops(self, row: Row, source: str) -> Iterator[Example]:
        """The single-hop questions of a decomposition, placeholders filled, each with and without its passage."""
        done: list[str] = []
        for hop in row.get("decomposition") or ():
            question = re.sub(
                r"#(\d)", lambda m: done[int(m[1]) - 1] if int(m[1]) <= len(done) else m[0], hop["question"]
            )
            done.append(hop["answer"])
            if hop.get("support_idx") is None:
                continue
            yield from self._single(row, source, (question, hop["answer"], hop["support_idx"]))

    def triples(self, row: Row, source: str) -> Iterator[Example]:
        """The triples of a 2WikiMultihopQA row as questions over the passage of their subject."""
        titles = {title: index for index, (title, _) in enumerate(row["context"])}
        for subject, relation, value in row.get("evidences") or ():
            index = titles.get(subject)
            if index is not None and relation in RELATION_QUESTIONS:
                yield from self._single(row, source, (f"{subject} >> {relation}", value, index))

    def _single(self, row: Row, source: str, hop: tuple[str, str, int]) -> Iterator[Example]:
        question, answer, support = hop
        question = self._worded(question)
        passage = join_passage(*row["context"][support])
        others = [i for i in range(len(row["context"])) if i != support]
        self._rng.shuffle(others)
        wrong = [join_passage(*row["context"][i]) for i in others[:3]]
        keep = self._rng.choice((0, 0, 1))
        passages = [*wrong[:keep], passage]
        self._rng.shuffle(passages)
        yield Example(source, question, tuple(passages), "span", (answer,), (passages.index(passage),))
        if wrong:
            yield Example(source, question, tuple(wrong[-1 - keep :]), "none")

    def _worded(self, question: str) -> str:
        subject, _, relation = question.partition(" >> ")
        wordings = RELATION_QUESTIONS.get(relation.strip(), ())
        if not wordings or self._rng.random() < 0.15:
            return question
        return self._rng.choice(wordings).format(subject)


def filled_context(rows: Iterable[Row], passages: dict[int, Row]) -> list[Row]:
    """Rows of the `*_open` files with the paragraphs their `gold_pids` name, and those of other rows as others."""
    kept = [r for r in rows if not r.get("has_full_context") and all(p in passages for p in r["gold_pids"])]
    pool = [pid for row in kept for pid in row["gold_pids"]]
    filled = []
    for number, row in enumerate(kept):
        pids = list(dict.fromkeys(row["gold_pids"]))
        rng = random.Random(number)
        others = [pid for pid in rng.sample(pool, min(6, len(pool))) if pid not in pids]
        context = [[passages[pid]["title"], [passages[pid]["text"]]] for pid in pids + others]
        hops = [
            {**hop, "support_idx": pids.index(hop["gold_pid"]) if hop.get("gold_pid") in pids else None}
            for hop in row.get("decomposition") or ()
        ]
        gold = list(range(len(pids)))
        filled.append({**row, "context": context, "gold_idx": gold, "decomposition": hops, "supporting_facts": None})
    return filled
