"""Pairs of next sentences, the better one first: what the progress reward learns from.

Preferred are sentences that experts or annotators wrote or accepted (ASQA, ALCE's demonstrations, ExpertQA) and gold
sentences (HotpotQA, 2Wiki). Rejected are sentences of the same topic that go wrong in a way a search meets: another
sentence of the same paragraphs, a sentence that was said already, one that experts found irrelevant or wrong, and,
more seldom, one about something else.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_evidence.text import split_sentences
from langgraph_evidence.training.base import SENTENCE_FILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from langgraph_evidence.models.progress_reward import AnswerStep
    from langgraph_evidence.training.base import DataFolder, Row

_MARKS = re.compile(r"\s*\[\d+\]")
_RELEVANT, _IRRELEVANT = {"Very relevant", "A bit relevant"}, {"Not too important", "Uninformative"}
_CORRECT, _WRONG = {"Definitely correct", "Probably correct"}, {"Likely incorrect", "Definitely incorrect"}


@dataclass(frozen=True)
class Preference:
    """Two next sentences for a question and the sentences so far; the first is the better one."""

    source: str
    question: str
    said: tuple[str, ...]
    better: str
    worse: str

    @property
    def steps(self) -> tuple[AnswerStep, AnswerStep]:
        """The better and the worse step."""
        return (self.question, self.said, self.better), (self.question, self.said, self.worse)


def make_pairs(data: DataFolder, folds: Iterable[int], *, seed: int = 0) -> list[Preference]:
    """Pairs of next sentences for a question and the text so far; the preferred one first."""
    kept, rng = frozenset(folds), random.Random(seed)
    pairs = [
        pair
        for name in SENTENCE_FILES
        for row in data.rows(name, kept)
        if row["sentence_split"]
        for pair in _from_context(row, rng)
    ]
    answers = list(_answers(data, kept))
    everything = [sentence for _, _, sentences in answers for sentence in sentences]
    for answer in answers:
        pairs.extend(_from_answer(answer, rng.choice(everything), rng))
    for row in data.rows("attribution/expertqa.jsonl", kept):
        pairs.extend(_from_claims(row, rng))
    return [pair for pair in pairs if pair.better != pair.worse]


def _from_context(row: Row, rng: random.Random) -> Iterator[Preference]:
    facts = [tuple(fact) for fact in row["supporting_facts"] or ()]
    said: dict[tuple[str, int], str] = {}
    others: list[str] = []
    gold_titles = {title for title, _ in facts}
    for title, parts in row["context"]:
        for index, part in enumerate(parts):
            if (title, index) in facts:
                said[title, index] = part.strip()
            elif title in gold_titles or index == 0:
                others.append(part.strip())
    done: list[str] = []
    for fact in [fact for fact in facts if fact in said]:
        rejected = [*rng.sample(others, min(len(others), 1)), *rng.sample(done, min(len(done), 1))]
        for text in rejected:
            yield Preference("HotpotQA/2Wiki", row["question"], tuple(done), said[fact], text)
        done.append(said[fact])


def _answers(data: DataFolder, folds: frozenset[int]) -> Iterator[tuple[str, str, list[str]]]:
    for row in data.rows("attribution/asqa_dev_500.jsonl", folds):
        for note in row["annotations"]:
            yield "ASQA", row["question"], answer_sentences(note["long_answer"])
    if 0 in folds:
        for row in data.rows("attribution/alce_fewshot_demos.jsonl"):
            yield "ALCE", row["question"], answer_sentences(row["answer"])


def _from_answer(answer: tuple[str, str, list[str]], stranger: str, rng: random.Random) -> Iterator[Preference]:
    source, question, sentences = answer
    for index, sentence in enumerate(sentences):
        said = tuple(sentences[:index])
        if index:
            yield Preference(source, question, said, sentence, rng.choice(said))
        if index % 2 == 0:
            yield Preference(source, question, said, sentence, stranger)


def _from_claims(row: Row, rng: random.Random) -> Iterator[Preference]:
    """Claims that experts found relevant and correct against those of the same answer that they did not."""
    claims = row["claims"]
    texts = [_MARKS.sub("", claim["claim_string"]).strip() for claim in claims]
    good = [index for index, claim in enumerate(claims) if _accepted(claim)]
    bad = [index for index, claim in enumerate(claims) if _refused(claim)]
    for index in good:
        rejected = rng.sample(bad, min(len(bad), 1)) + ([rng.randrange(index)] if index else [])
        for other in rejected:
            yield Preference("ExpertQA", row["question"], tuple(texts[:index]), texts[index], texts[other])


def _accepted(claim: Row) -> bool:
    return claim.get("informativeness") in _RELEVANT and claim.get("correctness") in _CORRECT


def _refused(claim: Row) -> bool:
    return claim.get("informativeness") in _IRRELEVANT or claim.get("correctness") in _WRONG


def answer_sentences(text: str) -> list[str]:
    """Sentences of an answer, citation marks removed."""
    return [quote.text for quote in split_sentences(_MARKS.sub("", text))]
