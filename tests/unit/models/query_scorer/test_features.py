"""The features of the query scorer by hand, and that the shipped weights were fitted to these and no others."""

from __future__ import annotations

import json
from math import log
from typing import Any

import numpy as np
import pytest

from langgraph_evidence.models.base import Encoder, shipped
from langgraph_evidence.models.query_scorer import FEATURES, HEAD, ListwiseQueryScorer, SimilarityScorer, pool_features
from langgraph_evidence.models.query_scorer.features import _others, _ranks, _rival
from langgraph_evidence.models.query_scorer.head import CrossEncoderScorer

QUERIES = ["red cat", "dog"]
PASSAGES = ["red red red cat", "red dog", "dog city of the river king"]
# Of three passages two hold `red` and two `dog`, one holds `cat`; idf = ln(1 + (3 - n + 0.5) / (n + 0.5)).
COMMON, RARE = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
# Lengths 4, 2 and 6, on average 4: 0.9 (1 - 0.4 + 0.4 length / 4).
NORMS = 0.9, 0.9 * 0.8, 0.9 * 1.2
LEXICAL = np.array([
    [COMMON * 3 / (3 + NORMS[0]) + RARE / (1 + NORMS[0]), COMMON / (1 + NORMS[1]), 0],
    [0, COMMON / (1 + NORMS[1]), COMMON / (1 + NORMS[2])],
])  # fmt: skip


def close(found: Any, wanted: Any) -> None:
    assert np.allclose(found, wanted, atol=1e-5), found


def test_the_lexical_columns_are_bm25_over_the_pool(encoder: Any) -> None:
    features = pool_features(encoder, QUERIES, PASSAGES)
    assert features.shape == (2, 3, FEATURES)
    relative = LEXICAL / LEXICAL.max(axis=1, keepdims=True)
    close(features[..., 0], relative)
    close(features[..., 1], LEXICAL / 10)
    # Equal scores in their order: the first query's third passage, the second's first, find nothing.
    close(features[..., 2], [[1, 1 / 2, 1 / 3], [1 / 3, 1, 1 / 2]])
    close(features[0, :, 3], [1 - relative[0, 1], relative[0, 1] - 1, -1])
    close(features[1, :, 3], [-1, 1 - relative[1, 2], relative[1, 2] - 1])
    close(features[..., 4], [[1, COMMON / (COMMON + RARE), 0], [0, 1, 1]])
    close(features[..., 5], 1)
    close(features[..., 6], [[1 / 3] * 3, [2 / 3] * 3])


def test_the_columns_of_the_whole_pool_and_of_the_other_queries(encoder: Any) -> None:
    features = pool_features(encoder, QUERIES, PASSAGES)
    cosine = encoder.encode(QUERIES) @ encoder.encode(PASSAGES).T
    close(features[..., 7], cosine)
    close(features[..., 10], cosine.max(axis=1, keepdims=True))
    close(features[..., 11], cosine.mean(axis=1, keepdims=True))
    # With two queries the others' mean is the other's.
    close(features[..., 12], features[::-1, :, 0])
    close(features[..., 13], cosine[::-1])
    close(features[..., 14], np.log1p([[2.0] * 3, [1.0] * 3]))
    close(features[..., 15], log(1 + 3))
    close(features[..., 16], LEXICAL.max(axis=1, keepdims=True) / 10)
    close(features[..., 17], [[0] * 3, [log(2) - log(3)] * 3])


def test_ranks_rivals_and_others() -> None:
    scores = np.array([[0.5, 0.9, 0.5], [0.1, 0.0, 0.2], [0.3, 0.3, 0.8]], dtype=np.float32)
    close(_ranks(scores), [[2, 1, 3], [2, 3, 1], [2, 3, 1]])
    close(_rival(scores), [[0.9, 0.5, 0.9], [0.2, 0.2, 0.1], [0.8, 0.8, 0.3]])
    close(_rival(scores[:, :1]), 0)
    close(_others(scores)[0], [0.2, 0.15, 0.5])
    close(_others(scores[:1]), scores[:1])


# Of "Trucks: ..." for three queries, by the head's sha256: a head trained anew has a row of its own, made at k1 0.9.
SHIPPED = {
    "d13e5c544ed2991df3a63eac7b06ff4e178d47dfbe8de679136e2f0a98a69064": [0.911, 0.327, 0.652],
}


def test_the_shipped_head_was_fitted_to_these_features() -> None:
    passages = [
        "Trucks: Trucks carry trucks to trucks.",
        "Truck driver: A driver drives the truck of another driver to a driver, and the truck drives the driver.",
        "King: The king is a king.",
        "Film: A film.",
    ]
    scorer = ListwiseQueryScorer.load(encoder=Encoder.load(precision="fp32", device="cpu"))
    scores = [row[0] for row in scorer.score(["king of the trucks", "truck driver", "truck"], passages)]
    head = json.loads(shipped(HEAD).with_suffix(".json").read_text("utf-8"))["sha256"]
    assert head in SHIPPED, f"The head is a new one; its row is {head!r}: {[round(score, 3) for score in scores]}"
    assert scores == pytest.approx(SHIPPED[head], abs=0.004)


class Outputs:
    """A full-size model with the outputs of a table, by (query, passage)."""

    def __init__(self, *rows: tuple[float, ...]) -> None:
        self.rows, self.labels, self.asked = np.array(rows, dtype=np.float32), ("x",) * len(rows[0]), list[Any]()

    def logits(self, pairs: Any) -> Any:
        self.asked += pairs
        return self.rows[: len(pairs)]


@pytest.mark.parametrize(
    "rows", [[(0.0,), (2.0,), (-2.0,), (5.0,)], [(1.0, 1.0), (0.0, 2.0), (1.0, -1.0), (-4.0, 1.0)]]
)
def test_a_full_size_scorer_is_equation_7_row_by_row(rows: Any) -> None:
    model = Outputs(*rows)
    scores = CrossEncoderScorer(model).score(["q", "r"], ["a", "b"])
    assert model.asked == [("q", "a"), ("q", "b"), ("r", "a"), ("r", "b")]
    wanted = 1 / (1 + np.exp(-np.array([[0.0, 2.0], [-2.0, 5.0]])))
    assert np.allclose(scores, wanted)


def test_the_untrained_scorer_is_the_cosine_from_0_to_1(encoder: Any) -> None:
    found = SimilarityScorer(encoder).score(QUERIES, PASSAGES)
    cosine = encoder.encode(QUERIES) @ encoder.encode(PASSAGES).T
    assert np.allclose(found, np.clip(cosine, 0, 1), atol=1e-5)
