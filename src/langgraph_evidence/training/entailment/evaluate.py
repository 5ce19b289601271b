"""The table of the entailment head: balanced accuracy and AUROC a source, against what needs no training.

The sources that end with "questions" tell gold sentences from all but one of them: the AUROC of sufficiency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from langgraph_evidence.models import default_encoder
from langgraph_evidence.models.entailment import Entailment, word_overlap
from langgraph_evidence.training.base import (
    TRAIN_FOLDS,
    TUNE_FOLD,
    DataFolder,
    auroc,
    balanced_accuracy,
    best_threshold,
    bootstrap,
)
from langgraph_evidence.training.entailment.data import FILES, tuning_pairs
from langgraph_evidence.training.entailment.mixture import limited

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from langgraph_evidence.models.base import Encoder
    from langgraph_evidence.training.entailment.pairs import NliPair

# Entailed pairs and others of one source: enough for a threshold on one number, and for a table.
_PAIRS_A_THRESHOLD, _PAIRS_A_SOURCE = 100, 150
_SEED = 0


def entailment_table(
    model: Entailment, folder: DataFolder, encoder: Encoder, *, folds: Collection[int]
) -> list[dict[str, Any]]:
    """One row a source that has entailed and other pairs in the folds, and rows with their means.

    The claims are all there; of what is made from questions and of changed facts, a fixed sample of each source is.

    Each row has `pairs`, `entailed`, `balanced_accuracy` at the model's one threshold, `auroc` (both with `_low` and
    `_high`, a 95% bootstrap interval), and `baselines`: for word overlap and cosine `balanced_accuracy` at one
    threshold for all sources, `own_threshold` with a threshold for this source, both chosen on folds 0-6, and `auroc`.
    `gain` is the balanced accuracy beyond the best of those.

    Raises:
        ResourceError: The data are missing or damaged.
    """
    tested = _tested(folder, folds)
    # Where every fold is measured, the baselines' thresholds are chosen on what they are measured on, to their favour.
    others = TRAIN_FOLDS.difference(folds)
    learnt = limited(tuning_pairs(folder, others, _SEED) if others else tested, _PAIRS_A_THRESHOLD, _SEED)
    found = model.probabilities([(pair.premise, pair.hypothesis) for pair in tested])
    scored = {
        "word overlap": (_overlap(learnt), _overlap(tested)),
        "cosine": (_cosine(encoder, learnt), _cosine(encoder, tested)),
    }
    shared = {name: best_threshold(scores[0], _truth(learnt), _sources(learnt)) for name, scores in scored.items()}
    rows = []
    for source in dict.fromkeys(pair.source for pair in tested):
        here, there = _sources(tested) == source, _sources(learnt) == source
        truth = _truth(tested)[here]
        if 0 < truth.sum() < len(truth):
            known = _truth(learnt)[there]
            baselines = {
                name: _baseline(scores[1][here], truth, shared[name], (scores[0][there], known))
                for name, scores in scored.items()
            }
            rows.append(_row(source, _metrics(found[here], truth, model.threshold), truth, baselines))
    return [*rows, *_means(rows)]


def _means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    claims = [row for row in rows if row["source"] in FILES]
    others = [row for row in rows if row not in claims]
    return [_mean("mean of the claims", claims), _mean("mean of the others", others)]


def _row(source: str, metrics: dict[str, Any], truth: NDArray[np.bool_], baselines: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"source": source, "pairs": len(truth), "entailed": int(truth.sum()), **metrics}
    row["baselines"] = baselines | {"majority": {"balanced_accuracy": 0.5, "own_threshold": 0.5, "auroc": 0.5}}
    return row | {"gain": row["balanced_accuracy"] - _best(row)}


def _tested(folder: DataFolder, folds: Collection[int]) -> list[NliPair]:
    pairs = tuning_pairs(folder, folds, _SEED)
    claims = [pair for pair in pairs if pair.source in FILES]
    return claims + limited([pair for pair in pairs if pair.source not in FILES], _PAIRS_A_SOURCE, _SEED)


def evaluate_entailment(data_dir: Path, folds: Collection[int] = (TUNE_FOLD,)) -> list[dict[str, Any]]:
    """The shipped head against word overlap, cosine and majority, a row a source; see `entailment_table`.

    Raises:
        ResourceError: The data or the shipped head are missing or damaged.
    """
    encoder = default_encoder()
    return entailment_table(Entailment.load(encoder=encoder), DataFolder(data_dir), encoder, folds=folds)


def _overlap(pairs: Sequence[NliPair]) -> NDArray[np.float64]:
    return np.array([word_overlap(pair.premise, pair.hypothesis) for pair in pairs])


def _cosine(encoder: Encoder, pairs: Sequence[NliPair]) -> NDArray[np.float64]:
    premises = encoder.encode([pair.premise for pair in pairs])
    hypotheses = encoder.encode([pair.hypothesis for pair in pairs])
    return np.asarray((premises * hypotheses).sum(1), dtype=np.float64)


def _truth(pairs: Sequence[NliPair]) -> NDArray[np.bool_]:
    return np.array([pair.entailed for pair in pairs], dtype=bool)


def _sources(pairs: Sequence[NliPair]) -> NDArray[np.str_]:
    return np.array([pair.source for pair in pairs])


def _metrics(scores: NDArray[np.float64], truth: NDArray[np.bool_], threshold: float) -> dict[str, float]:
    def accuracy(values: NDArray[np.float64], answers: NDArray[np.bool_]) -> float:
        return balanced_accuracy(values >= threshold, answers)

    metrics: dict[str, float] = {}
    for name, measure in (("balanced_accuracy", accuracy), ("auroc", auroc)):
        low, high = bootstrap(measure, scores, truth)
        metrics |= {name: measure(scores, truth), f"{name}_low": low, f"{name}_high": high}
    return metrics


def _baseline(
    scores: NDArray[np.float64],
    truth: NDArray[np.bool_],
    shared: float,
    learnt: tuple[NDArray[np.float64], NDArray[np.bool_]],
) -> dict[str, float]:
    both = 0 < learnt[1].sum() < len(learnt[1])
    own = best_threshold(learnt[0], learnt[1], ["own"] * len(learnt[1])) if both else shared
    return {
        "balanced_accuracy": balanced_accuracy(scores >= shared, truth),
        "own_threshold": balanced_accuracy(scores >= own, truth),
        "auroc": auroc(scores, truth),
    }


def _best(row: dict[str, Any]) -> float:
    kinds = ("balanced_accuracy", "own_threshold")
    return max(float(metrics[kind]) for metrics in row["baselines"].values() for kind in kinds)


def _mean(name: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    kinds = ("balanced_accuracy", "auroc", "gain")
    mean = {kind: float(np.mean([row[kind] for row in rows])) for kind in kinds if rows}
    return {"source": name, "pairs": sum(row["pairs"] for row in rows), **mean}
