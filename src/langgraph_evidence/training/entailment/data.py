"""The pairs that the entailment head learns from: twelve data sets, and pairs derived from their training folds."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.entailment import content_stems, coverage, pack_premise, split_sentences
from langgraph_evidence.training.base import TRAIN_FOLDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from langgraph_evidence.training.base import DataFolder

FILES = {
    "snli": "snli", "feverous": "feverous", "fm2": "fm2", "wice": "wice", "hover": "hover_text",
    "scifact": "scifact_rte", "qnli": "qnli_dev", "expertqa": "expertqa_claims", "fever_symmetric": "fever_symmetric",
    "vitaminc": "vitaminc_sample", "mnli": "mnli_sample", "fever_dev_pages": "fever_dev_pages",
}  # fmt: skip
"""The file in `nli/` of each source."""

LABELS = ("entailment", "neutral", "contradiction", "not_entailment")

# SNLI and MNLI hypotheses have no names to swap; QNLI's are questions.
_CLAIMS = frozenset(FILES) - {"snli", "mnli", "qnli"}
_OWN_DISTRACTORS = frozenset({"wice", "expertqa"})
_NEEDS_ALL = frozenset({"feverous", "hover"})
_SMALL = 1000
_YEAR_DIGITS = 4
_NUMBER = re.compile(r"\b\d[\d,.]*\b")
_NAME = re.compile(r"[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)*")
_SHORT_NAME = 2


@dataclass(frozen=True)
class NliPair:
    """One labelled pair.

    Args:
        source: A key of `FILES`.
        premise: The evidence.
        hypothesis: The statement or, in QNLI, the question.
        label: One of `LABELS`; `not_entailment` is neutral or contradiction.
        derived: Whether it was made from another pair.
    """

    source: str
    premise: str
    hypothesis: str
    label: str
    derived: bool = False

    @property
    def entailed(self) -> bool:
        """Whether the premise entails the hypothesis."""
        return self.label == "entailment"


def natural_pairs(folder: DataFolder, folds: Iterable[int]) -> list[NliPair]:
    """The pairs of the data sets that are there, in the folds.

    Raises:
        ResourceError: No file of `FILES` is there, one is damaged, or a row has no known label.
    """
    wanted = frozenset(folds)
    pairs: list[NliPair] = []
    for source, name in FILES.items():
        file = f"nli/{name}.jsonl"
        if folder.find(file):
            pairs.extend(_pair(source, row) for row in folder.rows(file, wanted))
    if not pairs:
        raise ResourceError(
            f"The data folder {folder.root} has no nli/*.jsonl with rows in the folds {sorted(wanted)}."
        )
    return pairs


def _pair(source: str, row: dict[str, Any]) -> NliPair:
    try:
        pair = NliPair(source, str(row["premise"]), str(row["hypothesis"]), str(row["label"]))
    except KeyError as error:
        raise ResourceError(f"A row of {source} has no {error}; rows need premise, hypothesis and label.") from error
    if pair.label not in LABELS:
        raise ResourceError(f"A row of {source} has the label {pair.label!r}; the labels are {LABELS}.")
    return pair


def derived_pairs(folder: DataFolder, pairs: list[NliPair], seed: int) -> list[NliPair]:
    """Further pairs from training pairs, which must come from the training folds.

    A name or number exchanged for another that fits (not entailed); the most telling of several gold sentences taken
    away (not entailed, in the sets whose claims need all of them); sentences of other premises mixed in (label kept);
    another premise altogether (neutral); and the FM2 and WiCE rows that tell gold sentences from retrieved ones.
    """
    rng = random.Random(seed)
    found = list(_from_fm2(folder, rng)) + list(_from_wice(folder))
    by_source: dict[str, list[NliPair]] = {}
    for pair in pairs:
        if pair.source in _CLAIMS:
            by_source.setdefault(pair.source, []).append(pair)
    for source, group in by_source.items():
        sentences = (
            [] if source in _OWN_DISTRACTORS else [text for pair in group for text in split_sentences(pair.premise)]
        )
        for pair in group:
            found.extend(_variants(pair, group, sentences, rng))
    return [replace(pair, derived=True) for pair in found]


def _variants(pair: NliPair, group: list[NliPair], sentences: list[str], rng: random.Random) -> Iterator[NliPair]:
    parts = split_sentences(pair.premise)
    if pair.entailed and pair.source != "expertqa":
        changed = swap_detail(pair.premise, pair.hypothesis, rng)
        if changed is not None:
            yield replace(pair, hypothesis=changed, label="not_entailment")
    if pair.entailed and pair.source in _NEEDS_ALL and len(parts) > 1:
        yield replace(pair, premise=_without_best(parts, pair.hypothesis), label="not_entailment")
    if sentences and rng.random() < (0.8 if len(group) < _SMALL else 0.35):
        mixed = list(parts)
        for text in rng.sample(sentences, min(len(sentences), rng.randint(2, 5))):
            mixed.insert(rng.randint(0, len(mixed)), text)
        yield replace(pair, premise=" ".join(mixed))
    other = rng.choice(group)
    if rng.random() < 0.15 and other.premise != pair.premise:
        yield replace(pair, premise=other.premise, label="neutral")


def _without_best(parts: list[str], hypothesis: str) -> str:
    stems = content_stems(hypothesis)
    best = max(range(len(parts)), key=lambda place: coverage(stems, content_stems(parts[place])))
    return " ".join(parts[:best] + parts[best + 1 :])


def swap_detail(premise: str, hypothesis: str, rng: random.Random) -> str | None:
    """The hypothesis with one name or number exchanged so that the premise no longer says it, or None without either.

    A name becomes another of the premise, or changes places with another of the hypothesis; a number becomes another
    of the premise of the same kind, or one near by.
    """
    options = [*_number_swaps(premise, hypothesis, rng), *_name_swaps(premise, hypothesis, rng)]
    if not options:
        return None
    old, new = rng.choice(options)
    changed = hypothesis.replace(old, "\0", 1).replace(new, old, 1).replace("\0", new, 1)
    return changed if changed != hypothesis else None


def _number_swaps(premise: str, hypothesis: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    others = [text.strip(".,") for text in _NUMBER.findall(premise) if text.strip(".,") not in hypothesis]
    for text in (found.strip(".,") for found in _NUMBER.findall(hypothesis)):
        if text.isdigit():
            like = [other for other in others if (len(other) == _YEAR_DIGITS) == (len(text) == _YEAR_DIGITS)]
            yield text, rng.choice(like) if like else str(int(text) + rng.choice([1, 2, 3, 5, 10]))


def _name_swaps(premise: str, hypothesis: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    own = [name for name in _NAME.findall(hypothesis) if content_stems(name) and len(name) > _SHORT_NAME]
    others = [
        name
        for name in dict.fromkeys(_NAME.findall(premise))
        if name not in hypothesis and not any(part in hypothesis for part in name.split())
    ]
    if others:
        yield from ((name, rng.choice(others)) for name in own)
    if len(own) > 1 and own[0] not in own[-1] and own[-1] not in own[0]:
        yield own[0], own[-1]


def _from_fm2(folder: DataFolder, rng: random.Random) -> Iterator[NliPair]:
    for name in ("verify/fm2_dev.jsonl", "verify/fm2_test.jsonl"):
        for row in _rows(folder, name):
            claim, title = str(row["claim"]), str(row["title"])
            retrieved = [str(item["text"]) for item in row["retrieved_evidence"] if not item.get("is_gold")]
            if not retrieved:
                continue
            mixed = [str(item["text"]) for item in row["gold_evidence"]] + rng.sample(retrieved, min(3, len(retrieved)))
            rng.shuffle(mixed)
            label = "entailment" if row["label"] == "SUPPORTS" else "contradiction"
            yield NliPair("fm2", _titled(title, mixed), claim, label)
            apart = [text for text in retrieved if coverage(content_stems(claim), content_stems(text)) < 0.5]
            if label == "entailment" and apart:
                yield NliPair("fm2", _titled(title, apart[:2]), claim, "not_entailment")


def _from_wice(folder: DataFolder) -> Iterator[NliPair]:
    for row in _rows(folder, "attribution/wice_claim_dev.jsonl"):
        sentences, claim = [str(text) for text in row["evidence"]], str(row["claim"])
        label = "entailment" if row["label"] == "supported" else "not_entailment"
        for places in filter(None, row["supporting_sentences"][:2]):
            yield NliPair("wice", " ".join(sentences[place] for place in places), claim, label)
        needed = {place for places in row["supporting_sentences"] for place in places}
        rest = "\n".join(text for place, text in enumerate(sentences) if place not in needed)
        if label == "entailment" and rest:
            yield NliPair("wice", pack_premise(rest, claim, max_words=200), claim, "not_entailment")


def _titled(title: str, sentences: list[str]) -> str:
    return " ".join(f"{title}: {text}" for text in sentences)


def _rows(folder: DataFolder, name: str) -> list[dict[str, Any]]:
    return folder.rows(name, TRAIN_FOLDS) if folder.find(name) else []
