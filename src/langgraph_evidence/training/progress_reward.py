"""Trains the progress reward: a Bradley-Terry head that prefers the better next sentence.

Preferred are sentences that experts or annotators wrote or accepted (ASQA, ALCE's demonstrations, ExpertQA) and gold
sentences (HotpotQA, 2Wiki). Rejected are sentences of the same topic that go wrong in a way a search meets: another
sentence of the same paragraphs, a sentence that was said already, one that experts found irrelevant or wrong, and,
more seldom, one about something else.
"""

from __future__ import annotations

import random
import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from langgraph_evidence.models.adapters import Adapter, AdapterSpec, PairModel, save_adapter
from langgraph_evidence.models.progress_reward import HEAD, LABELS, context_of
from langgraph_evidence.training.data import TRAIN_FOLDS, TUNE_FOLD, DataFolder
from langgraph_evidence.training.groups import Group, group_step
from langgraph_evidence.training.loop import TrainOptions, TrainResult, train

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from langgraph_evidence.models.encoder import Encoder

OPTIONS = TrainOptions(epochs=1, learning_rate=1e-3, batch_tokens=2048, measure_every=90, patience=4)
RANK, MAX_TOKENS = 32, 128
_MULTIHOP = (
    "multihop/hotpotqa_train.jsonl",
    "multihop/hotpotqa_dev.jsonl",
    "multihop/2wiki_train.jsonl",
    "multihop/2wiki_dev.jsonl",
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
_MARKS = re.compile(r"\s*\[\d+\]")

Row = dict[str, Any]


def make_pairs(data: DataFolder, folds: Iterable[int], *, seed: int = 0) -> list[Group]:
    """Pairs of next sentences for a question and the text so far; the preferred one first."""
    kept, chooser = frozenset(folds), random.Random(seed)
    pairs = [
        pair
        for name in _MULTIHOP
        for row in data.rows(name, kept)
        if row["sentence_split"]
        for pair in _from_context(row, chooser)
    ]
    answers = list(_answers(data, kept))
    everything = [sentence for _, _, sentences in answers for sentence in sentences]
    for answer in answers:
        pairs.extend(_from_answer(answer, chooser.choice(everything), chooser))
    for row in data.rows("attribution/expertqa.jsonl", kept):
        pairs.extend(_from_claims(row, chooser))
    return [pair for pair in pairs if pair.texts[0] != pair.texts[1]]


def _from_context(row: Row, chooser: random.Random) -> Iterator[Group]:
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
        rejected = [*chooser.sample(others, min(len(others), 1)), *chooser.sample(done, min(len(done), 1))]
        for text in rejected:
            yield Group("HotpotQA/2Wiki", context_of(row["question"], done), (said[fact], text))
        done.append(said[fact])


def _answers(data: DataFolder, folds: frozenset[int]) -> Iterator[tuple[str, str, list[str]]]:
    for row in data.rows("attribution/asqa_dev_500.jsonl", folds):
        for note in row["annotations"]:
            yield "ASQA", row["question"], split_sentences(note["long_answer"])
    if 0 in folds:
        for row in data.rows("attribution/alce_fewshot_demos.jsonl"):
            yield "ALCE", row["question"], split_sentences(row["answer"])


def _from_answer(answer: tuple[str, str, list[str]], stranger: str, chooser: random.Random) -> Iterator[Group]:
    source, question, sentences = answer
    for index, sentence in enumerate(sentences):
        context = context_of(question, sentences[:index])
        if index:
            yield Group(source, context, (sentence, chooser.choice(sentences[:index])))
        if index % 2 == 0:
            yield Group(source, context, (sentence, stranger))


def _from_claims(row: Row, chooser: random.Random) -> Iterator[Group]:
    """Claims that experts found relevant and correct against those of the same answer that they did not."""
    claims = row["claims"]
    texts = [_MARKS.sub("", claim["claim_string"]).strip() for claim in claims]
    good = [index for index, claim in enumerate(claims) if _accepted(claim)]
    bad = [index for index, claim in enumerate(claims) if _refused(claim)]
    for index in good:
        context = context_of(row["question"], texts[:index])
        rejected = chooser.sample(bad, min(len(bad), 1)) + ([chooser.randrange(index)] if index else [])
        for other in rejected:
            yield Group("ExpertQA", context, (texts[index], texts[other]))


_RELEVANT, _IRRELEVANT = {"Very relevant", "A bit relevant"}, {"Not too important", "Uninformative"}
_CORRECT, _WRONG = {"Definitely correct", "Probably correct"}, {"Likely incorrect", "Definitely incorrect"}


def _accepted(claim: Row) -> bool:
    return claim.get("informativeness") in _RELEVANT and claim.get("correctness") in _CORRECT


def _refused(claim: Row) -> bool:
    return claim.get("informativeness") in _IRRELEVANT or claim.get("correctness") in _WRONG


def split_sentences(text: str) -> list[str]:
    """Sentences of an answer, citation marks removed."""
    return [sentence.strip() for sentence in _SENTENCE.split(_MARKS.sub("", text)) if sentence.strip()]


def pairwise_accuracy(
    pairs: Sequence[Group], score: Callable[[list[tuple[str, str]]], Sequence[float]]
) -> dict[str, float]:
    """Share of pairs in which the preferred sentence scores higher (ties count a half), by data set and over all."""
    scores = np.asarray(score([(pair.query, text) for pair in pairs for text in pair.texts])).reshape(-1, 2)
    right = (np.sign(scores[:, 0] - scores[:, 1]) + 1) / 2
    figures = {"score": float(right.mean())}
    for source in sorted({pair.source for pair in pairs}):
        figures[source] = float(right[[pair.source == source for pair in pairs]].mean())
    return figures


def train_progress_reward(
    encoder: Encoder,
    data: DataFolder,
    out: Path,
    *,
    options: TrainOptions = OPTIONS,
    limit: int = 0,
    tune: int = 400,
    resume: bool = False,
    report: Callable[[int, int, float], None] | None = None,
) -> TrainResult:
    """Trains on folds 0-6, stops by fold 7 (`tune` pairs of it), and writes the adapter to `out`.

    `limit` pairs are used, or all with 0.
    """
    chooser = random.Random(options.seed)
    pairs, held_out = (make_pairs(data, folds, seed=options.seed) for folds in (TRAIN_FOLDS, [TUNE_FOLD]))
    chooser.shuffle(pairs)
    chooser.shuffle(held_out)
    pairs, held_out = pairs[: limit or None], held_out[:tune]
    spec = AdapterSpec(HEAD, encoder.sha256, RANK, LABELS, MAX_TOKENS)
    adapter = Adapter(encoder, spec)
    lengths, step = group_step(encoder, adapter, pairs, absolute=0.0)

    def measure(frozen: Adapter) -> dict[str, float]:
        model = PairModel(encoder, frozen)
        return pairwise_accuracy(held_out, lambda texts: [float(value) for value in model.logits(texts)[:, 0]])

    result = train(
        adapter, lengths, step, measure, options=options, out=out, data=data.hashes, resume=resume, report=report
    )
    details = {"data": data.hashes, "options": asdict(options), "figures": result.figures}
    adapter.spec = replace(spec, details=details)
    save_adapter(adapter, out / f"{HEAD}.safetensors")
    return result
