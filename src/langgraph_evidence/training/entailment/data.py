"""The pairs that the entailment head learns from: claims, questions with answers, and what is made of them."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.models.entailment import content_stems, coverage, pack_premise, split_sentences
from langgraph_evidence.training.base import TRAIN_FOLDS
from langgraph_evidence.training.entailment.asked import multihop_questions, reading_questions
from langgraph_evidence.training.entailment.changes import CHANGES, CONTRADICTING, change_name, names, negate
from langgraph_evidence.training.entailment.instructions import mention, order_alone, with_order
from langgraph_evidence.training.entailment.pairs import LABELS, NliPair
from langgraph_evidence.training.entailment.questions import ANSWERS, pairs_of
from langgraph_evidence.training.entailment.rewording import reword
from langgraph_evidence.training.entailment.roles import passages_of, role_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from langgraph_evidence.training.base import DataFolder

FILES = {
    "snli": "snli", "feverous": "feverous", "fm2": "fm2", "wice": "wice", "hover": "hover_text",
    "scifact": "scifact_rte", "qnli": "qnli_dev", "expertqa": "expertqa_claims", "fever_symmetric": "fever_symmetric",
    "vitaminc": "vitaminc_sample", "mnli": "mnli_sample", "fever_dev_pages": "fever_dev_pages",
    "fever_dev_evidence": "fever_dev_evidence", "begin": "begin", "breaking_nli": "breaking_nli",
}  # fmt: skip
"""The file in `nli/` of each source."""

CHANGED = "changed facts"
"""The source of statements with one fact changed, and of the same statements in other words."""
YES_OR_NO = f"yes or no{ANSWERS}"
"""The source of claims made into questions that yes or no answers."""
ORDERS = "orders"
"""The source of premises that tell the reader what to say."""

# SNLI and MNLI hypotheses have no names to swap; QNLI's are questions, BEGIN's are talk.
_CLAIMS = frozenset(FILES) - {"snli", "mnli", "qnli", "begin", "breaking_nli"}
_OWN_DISTRACTORS = frozenset({"wice", "expertqa"})
_NEEDS_ALL = frozenset({"feverous", "hover"})
_SMALL = 1000
_KINDS_A_PAIR = 2
_REWORDED, _JOINT, _ASKED = 0.5, 0.3, 0.25
_MENTIONED, _ORDERED, _ORDERS_ALONE = 0.09, 0.05, 0.01
# A refuted claim turned round is true where one plain statement was refuted.
_ASKING = ("Is it true that {}?", "Is this right: {}?", "{}, is that so?")
_PLAIN = frozenset({"fever_dev_evidence", "fever_dev_pages", "fever_symmetric", "vitaminc"})
_WORD = re.compile(r"\w+")


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


def question_pairs(folder: DataFolder, folds: Iterable[int], seed: int) -> list[NliPair]:
    """The pairs of the multi-hop and reading questions in the folds, of the data sets that are there."""
    rng, wanted = random.Random(seed), frozenset(folds)
    asked = [*multihop_questions(folder, wanted, rng), *reading_questions(folder, wanted, rng)]
    return [pair for question in asked for pair in pairs_of(question, rng)]


def training_pairs(folder: DataFolder, seed: int, folds: Iterable[int] = TRAIN_FOLDS) -> list[NliPair]:
    """All that is learnt from: natural pairs, questions, what is made of both, and who did it to whom."""
    natural, asked = natural_pairs(folder, folds), question_pairs(folder, folds, seed)
    asked += yes_or_no_pairs(natural, seed)
    made = [*derived_pairs(folder, natural, seed), *joint_pairs(natural, seed)]
    made += [*changed_pairs([*natural, *asked], seed), *ordered_pairs([*natural, *asked], seed)]
    return [*natural, *asked, *made, *role_pairs(passages_of(folder, folds), random.Random(seed))]


def tuning_pairs(folder: DataFolder, folds: Iterable[int], seed: int) -> list[NliPair]:
    """What is measured: natural pairs, questions, changed facts, orders and roles of the folds."""
    natural, asked = natural_pairs(folder, folds), question_pairs(folder, folds, seed)
    both = [*natural, *(pair for pair in asked if not pair.derived)]
    roles = role_pairs(passages_of(folder, folds), random.Random(seed))
    return [*both, *changed_pairs(both, seed), *ordered_pairs(both, seed), *roles]


def without_leaks(pairs: Sequence[NliPair], tested: Sequence[NliPair]) -> list[NliPair]:
    """The pairs whose statement or question is not among those tested; the data sets' folds were drawn apart."""
    known = {_key(pair.hypothesis) for pair in tested}
    return [pair for pair in pairs if _key(pair.hypothesis) not in known]


def _key(hypothesis: str) -> str:
    return " ".join(_WORD.findall(hypothesis.split("?")[0].lower()))


def changed_pairs(pairs: Sequence[NliPair], seed: int) -> list[NliPair]:
    """Entailed statements with one fact changed (not entailed) and in other words (entailed).

    Refuted statements are turned round as well (entailed), so that a negation alone says nothing of the label.
    """
    rng = random.Random(seed)
    found: list[NliPair] = []
    for pair in pairs:
        told = pair.source.endswith(ANSWERS)
        if (pair.source not in _CLAIMS and not told) or pair.derived:
            continue
        source = f"{'answers' if told else 'claims'}, {CHANGED}"
        if pair.entailed:
            elsewhere = names(rng.choice(pairs).premise)
            made = _changes(pair, elsewhere, rng)
        elif pair.label == "contradiction" and pair.source in _PLAIN:
            made = iter([(negate(pair.hypothesis, pair.premise, rng), "entailment")])
        else:
            continue
        found.extend(
            replace(pair, source=source, hypothesis=text, label=label)
            for text, label in made
            if text is not None and text != pair.hypothesis
        )
    return found


def yes_or_no_pairs(pairs: Sequence[NliPair], seed: int) -> list[NliPair]:
    """Some claims as questions with the answers yes and no, of which one is entailed and one contradicted."""
    rng, found = random.Random(seed), []
    for pair in pairs:
        if pair.source in _CLAIMS and pair.label in {"entailment", "contradiction"} and rng.random() < _ASKED:
            asked = rng.choice(_ASKING).format(pair.hypothesis.strip().rstrip("."))
            for answer, label in (("yes", "entailment"), ("no", "contradiction")):
                right = label if pair.entailed else "contradiction" if label == "entailment" else "entailment"
                found.append(replace(pair, source=YES_OR_NO, hypothesis=f"{asked} {answer}", label=right))
    return found


def joint_pairs(pairs: Sequence[NliPair], seed: int) -> list[NliPair]:
    """Two entailed claims as one statement: entailed by both premises together, not by one of them."""
    rng, found = random.Random(seed), []
    claims = [pair for pair in pairs if pair.entailed and pair.source in _CLAIMS]
    for pair in claims:
        other = rng.choice(claims)
        if rng.random() > _JOINT or other.premise == pair.premise:
            continue
        parts = [pair.hypothesis.strip().rstrip("."), other.hypothesis.strip()]
        made = replace(pair, source=f"claims, {CHANGED}", hypothesis=" and ".join(parts))
        both = [pair.premise, other.premise]
        found.append(replace(made, premise=" ".join(rng.sample(both, 2))))
        found.append(replace(made, premise=rng.choice(both), label="not_entailment"))
    return found


def _changes(pair: NliPair, elsewhere: Sequence[str], rng: random.Random) -> Iterator[tuple[str | None, str]]:
    yield reword(pair.hypothesis, rng), "entailment"
    # A question with its answer has no verb of its own to negate, and "A or B? A" means the same as "B or A? A".
    asks = "?" in pair.hypothesis
    kinds = [kind for kind in CHANGES if not asks or kind not in {"negation", "swap"}]
    made = 0
    for kind in rng.sample(kinds, len(kinds)):
        if kind == "name":
            text = change_name(pair.hypothesis, pair.premise, rng, elsewhere)
        else:
            text = CHANGES[kind](pair.hypothesis, pair.premise, rng)
        if text is not None and text != pair.hypothesis:
            # Reworded now and then like the entailed ones, so that the wording says nothing of the label.
            text = (reword(text, rng) or text) if rng.random() < _REWORDED else text
            yield text, "contradiction" if kind in CONTRADICTING and not asks else "not_entailment"
            made += 1
        if made == _KINDS_A_PAIR:
            return


def ordered_pairs(pairs: Sequence[NliPair], seed: int) -> list[NliPair]:
    """Some pairs with an order in the premise, which changes nothing; some with nothing but orders or a mention."""
    rng, found = random.Random(seed), []
    for pair in pairs:
        chance = rng.random()
        if chance < _ORDERS_ALONE:
            premise = order_alone(pair.hypothesis, rng)
            found.append(replace(pair, source=ORDERS, premise=premise, label="not_entailment", derived=False))
        elif chance < _ORDERED:
            premise = with_order(pair.premise, pair.hypothesis, rng)
            found.append(replace(pair, source=ORDERS, premise=premise, derived=False))
        elif chance < _MENTIONED:
            other = rng.choice(pairs).premise
            beside = [] if other == pair.premise else [*split_sentences(other)[:1], ""]
            premise = f"{mention(pair.hypothesis, rng)} {rng.choice(beside or [''])}".strip()
            found.append(replace(pair, source=ORDERS, premise=premise, label="not_entailment", derived=False))
    return found


def derived_pairs(folder: DataFolder, pairs: list[NliPair], seed: int) -> list[NliPair]:
    """Further pairs from training pairs, which must come from the training folds.

    The most telling of several gold sentences taken away (not entailed, in the sets whose claims need all of them);
    sentences of other premises mixed in (label kept); another premise altogether (neutral); and the FM2 and WiCE rows
    that tell gold sentences from retrieved ones.
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
    if pair.entailed and pair.source in _NEEDS_ALL and len(parts) > 1:
        yield replace(pair, premise=_without_best(parts, pair.hypothesis), label="not_entailment")
    if sentences and rng.random() < (0.8 if len(group) < _SMALL else 0.35):
        mixed = list(parts)
        for text in rng.sample(sentences, min(len(sentences), rng.randint(1, 4))):
            mixed.insert(rng.randint(0, len(mixed)), text)
        yield replace(pair, premise=" ".join(mixed))
    other = rng.choice(group)
    if rng.random() < 0.15 and other.premise != pair.premise:
        yield replace(pair, premise=other.premise, label="neutral")


def _without_best(parts: list[str], hypothesis: str) -> str:
    stems = content_stems(hypothesis)
    best = max(range(len(parts)), key=lambda place: coverage(stems, content_stems(parts[place])))
    return " ".join(parts[:best] + parts[best + 1 :])


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
    for row in [
        *_rows(folder, "attribution/wice_claim_dev.jsonl"),
        *_rows(folder, "attribution/wice_partial_train.jsonl"),
    ]:
        sentences, claim = [str(text) for text in row["evidence"]], str(row["claim"])
        label = "entailment" if row["label"] == "supported" else "not_entailment"
        for places in filter(None, row["supporting_sentences"][:2]):
            yield NliPair("wice", " ".join(sentences[place] for place in places), claim, label)
        needed = {place for places in row["supporting_sentences"] for place in places}
        rest = "\n".join(text for place, text in enumerate(sentences) if place not in needed)
        if label == "entailment" and rest:
            yield NliPair("wice", pack_premise(rest, claim, max_words=150), claim, "not_entailment")


def _titled(title: str, sentences: list[str]) -> str:
    return " ".join(f"{title}: {text}" for text in sentences)


def _rows(folder: DataFolder, name: str) -> list[dict[str, Any]]:
    return folder.rows(name, TRAIN_FOLDS) if folder.find(name) else []
