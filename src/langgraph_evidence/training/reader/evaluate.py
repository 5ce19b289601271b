"""The reader's metrics on a fold: answers with gold and with all paragraphs, sufficiency, and baselines beside them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np

from langgraph_evidence.evaluation.answers import score_answer
from langgraph_evidence.evaluation.intervals import bootstrap
from langgraph_evidence.models import default_encoder
from langgraph_evidence.models.reader import THRESHOLD, Reader
from langgraph_evidence.text import split_sentences
from langgraph_evidence.training.base import TUNE_FOLD, DataFolder, Row
from langgraph_evidence.training.reader.data import Example, ExampleMaker, join_passage
from langgraph_evidence.training.reader.mixture import missing_gold_example, missing_gold_rows, multihop_rows, open_rows
from langgraph_evidence.training.reader.single_passage import whole_passages

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from langgraph_evidence.evaluation.answers import Style
    from langgraph_evidence.models.base import Encoder

_STYLES: dict[str, Style] = {"HotpotQA": "hotpotqa", "2Wiki": "2wiki", "MuSiQue": "musique"}
_SEED = 77
_PER_SET = 200


def _rows(folder: DataFolder, folds: Collection[int], *, with_open: bool) -> list[tuple[str, Row]]:
    return [*multihop_rows(folder, folds), *(open_rows(folder, folds) if with_open else ())]


def _scores(examples: Sequence[Example], answers: Sequence[str]) -> list[tuple[float, float]]:
    asked = zip(examples, answers, strict=True)
    scored = (score_answer(text, e.answers, style=_STYLES.get(e.source, "hotpotqa")) for e, text in asked)
    return [(overlap.em, overlap.f1) for overlap in scored]


def interval(values: Sequence[float]) -> list[float]:
    """The 95% bootstrap interval of a mean, in percent."""
    if not values:
        return [0.0, 0.0]
    found = bootstrap(values)
    return [round(100 * found.low, 1), round(100 * found.high, 1)]


def _row(name: str, system: str, values: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    made: dict[str, Any] = {"measure": name, "system": system, "n": len(next(iter(values.values())))}
    for metric, each in values.items():
        made[metric] = round(100 * float(np.mean(each)), 1) if len(each) else 0.0
        made[f"{metric}_interval"] = interval(each)
    return made


def leave_one_out(rows: Sequence[tuple[str, Row]], *, replaced: bool) -> list[tuple[Example, Example]]:
    """Pairs of complete evidence and the same with one gold passage left out, or replaced by a distractor."""
    maker = ExampleMaker(_SEED)
    pairs = []
    for source, row in rows:
        part = maker.incomplete(row, source, replaced=replaced)
        if part is not None:
            pairs.append((maker.complete(row, source, 0), part))
    return pairs


def _all_paragraphs(source: str, row: Row) -> Example:
    passages = tuple(join_passage(*entry) for entry in row["context"])
    answers = (str(row["answer"]), *map(str, row.get("answer_aliases") or ()))
    return Example(source, row["question"], passages, "span", answers)


def similar_sentences(encoder: Encoder, examples: Sequence[Example]) -> list[tuple[str, float]]:
    """The baseline: the sentence most like the question by untrained MiniLM, and its cosine."""
    found = []
    for example in examples:
        sentences = [quote.text for passage in example.passages for quote in split_sentences(passage)]
        if not sentences:
            found.append(("", 0.0))
            continue
        vectors = encoder.encode([example.question, *sentences])
        likeness = vectors[1:] @ vectors[0]
        best = int(likeness.argmax())
        found.append((sentences[best], float(likeness[best])))
    return found


def _balanced(pairs: Sequence[tuple[float, float]], threshold: float) -> list[float]:
    return [((whole >= threshold) + (part < threshold)) / 2 for whole, part in pairs]


def _sufficiency(name: str, system: str, pairs: Sequence[tuple[float, float]], threshold: float) -> dict[str, Any]:
    ranked = [float(whole > part) for whole, part in pairs]
    return _row(name, system, {"accuracy": _balanced(pairs, threshold), "ranked_right": ranked})


def _answerable(reader: Reader, examples: Sequence[Example]) -> list[float]:
    return [reading.answerable for reading in reader.read_batch([(e.question, e.passages) for e in examples])]


def _answer_rows(
    reader: Reader, encoder: Encoder | None, name: str, examples: Sequence[Example]
) -> list[dict[str, Any]]:
    made = []
    for source in dict.fromkeys(example.source for example in examples):
        chosen = [example for example in examples if example.source == source]
        asked = [(example.question, example.passages) for example in chosen]
        systems = {
            "reader": [reading.text for reading in reader.read_batch(asked, must_answer=True)],
            "reader, may decline": [reading.text for reading in reader.read_batch(asked)],
        }
        if encoder is not None:
            systems["similar sentence"] = [text for text, _ in similar_sentences(encoder, chosen)]
            systems["majority (no)"] = ["no"] * len(chosen)
        for system, answers in systems.items():
            scores = _scores(chosen, answers)
            values = {"em": [em for em, _ in scores], "f1": [f1 for _, f1 in scores]}
            if system == "reader, may decline":
                values["declined"] = [float(not answer) for answer in answers]
            made.append(_row(f"{name}: {source}", system, values))
    return made


def _best_threshold(pairs: Sequence[tuple[float, float]]) -> float:
    """The baseline's threshold, chosen on the very pairs it is measured on: the most that could be had from it."""
    values = sorted({value for pair in pairs for value in pair})
    return max(values, key=lambda value: float(np.mean(_balanced(pairs, value))), default=0.5)


def _sufficiency_rows(
    reader: Reader, encoder: Encoder | None, name: str, pairs: Sequence[tuple[Example, Example]]
) -> list[dict[str, Any]]:
    wholes, parts = [whole for whole, _ in pairs], [part for _, part in pairs]
    read = list(zip(_answerable(reader, wholes), _answerable(reader, parts), strict=True))
    mine = _sufficiency(name, "reader", read, THRESHOLD)
    if encoder is None:
        return [mine]
    cosines = [[value for _, value in similar_sentences(encoder, side)] for side in (wholes, parts)]
    alike = list(zip(*cosines, strict=True))
    return [
        mine,
        _sufficiency(name, "similar sentence, best threshold", alike, _best_threshold(alike)),
        _sufficiency(name, "majority", [(1.0, 1.0)] * len(pairs), 0.5),
    ]


def evaluate_reader(
    data_dir: Path,
    folds: Collection[int] = (TUNE_FOLD,),
    *,
    reader: Reader | None = None,
    encoder: Encoder | None = None,
    baselines: bool = True,
) -> dict[str, Any]:
    """Every metric of the reader on some folds, in percent, with baselines and 95% bootstrap intervals.

    Args:
        data_dir: Laid out as the project's data folder.
        folds: The rows that are measured.
        reader: The shipped one, unless given.
        encoder: Of the baselines; the shared one, unless given.
        baselines: Whether they are measured too.

    Returns:
        `head`, `folds`, and `rows`: each with measure, system, n, its metrics and their intervals.
    """
    model = reader or Reader.load()
    base = (encoder or default_encoder()) if baselines else None
    folder = DataFolder(data_dir)
    own, every = (_rows(folder, folds, with_open=flag) for flag in (False, True))
    maker = ExampleMaker(_SEED)
    made = _answer_rows(model, base, "gold paragraphs", [maker.complete(row, source, 0) for source, row in every])
    made += _answer_rows(model, base, "all paragraphs", [_all_paragraphs(source, row) for source, row in own])
    for replaced in (False, True):
        name = f"sufficient, one gold paragraph {'replaced' if replaced else 'left out'}"
        made += _sufficiency_rows(model, base, name, leave_one_out(every, replaced=replaced))
    single = list(whole_passages(folder, folds, _SEED, _PER_SET))
    made += _answer_rows(model, base, "one passage", [example for example in single if example.kind != "none"])
    missing = [missing_gold_example(row) for row in missing_gold_rows(folder, folds)]
    for name, examples in (
        ("HotpotQA fullwiki, missing gold", missing),
        ("SQuAD 2, unanswerable", [example for example in single if example.kind == "none"]),
    ):
        declined = [float(value < THRESHOLD) for value in _answerable(model, examples)]
        made.append(_row(f"insufficient: {name}", "reader", {"accuracy": declined}))
    return {"head": "reader", "folds": sorted(folds), "data": folder.hashes, "rows": made}


def none_bias(reader: Reader, folder: DataFolder, fold: int, limit: int = 200) -> float:
    """What to add to the logit of "none" so that complete and incomplete evidence are told apart best at one half.

    It is fitted on the fold that early stopping looks at, both ways of leaving a gold passage out counting the same.
    """
    rows = _rows(folder, (fold,), with_open=True)
    chosen = random.Random(_SEED + 1).sample(rows, min(limit, len(rows)))
    told: list[tuple[float, float]] = []
    for replaced in (False, True):
        pairs = leave_one_out(chosen, replaced=replaced)
        sides = [_answerable(reader, [pair[side] for pair in pairs]) for side in (0, 1)]
        told += zip(*sides, strict=True)
    if not told:
        return 0.0
    grid = np.linspace(0.2, 0.8, 61)
    accuracy = np.asarray([float(np.mean(_balanced(told, threshold))) for threshold in grid])
    # The middle of the best stretch is steadier than its first value.
    best = float(np.mean(grid[accuracy >= accuracy.max() - 0.005]))
    return round(float(np.log(best / (1 - best))), 3)


def tune_metrics(reader: Reader, folder: DataFolder, fold: int, limit: int = 150) -> dict[str, float]:
    """What early stopping looks at: F1 with gold paragraphs, accuracy of sufficiency, and their mean as `score`."""
    rows = _rows(folder, (fold,), with_open=True)
    chosen = random.Random(_SEED).sample(rows, min(limit, len(rows)))
    pairs = leave_one_out(chosen, replaced=True)
    wholes, parts = [whole for whole, _ in pairs], [part for _, part in pairs]
    readings = reader.read_batch([(e.question, e.passages) for e in wholes], must_answer=True)
    f1 = float(np.mean([f1 for _, f1 in _scores(wholes, [reading.text for reading in readings])]))
    told = zip([reading.answerable for reading in readings], _answerable(reader, parts), strict=True)
    accuracy = float(np.mean(_balanced(list(told), 0.5)))
    return {"f1": f1, "sufficiency": accuracy, "score": (f1 + accuracy) / 2}
