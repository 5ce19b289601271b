"""What tells how far a query's passage stands out among the passages it is searched in.

The reciprocal rank that FuRePA's scorer predicts depends on all passages at once: a query is bad because others fit it
as well. Each (query, passage) therefore gets, beside its own lexical and vector similarity, where these stand in the
pool, and how much the round's other queries point at the passage too.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.models.base import softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from langgraph_evidence.models.base import Encoder

FEATURES = 24
_TOKENS = 256
_K1, _B = 0.9, 0.4


def pool_features(encoder: Encoder, queries: Sequence[str], passages: Sequence[str]) -> NDArray[np.float32]:
    """Features of every query with every passage, (queries, passages, FEATURES); neither may be empty."""
    lexical, coverage = _lexical(encoder, queries, passages)
    questions = encoder.encode(queries)
    cosine = questions @ encoder.encode(passages).T
    top = np.maximum(lexical.max(axis=1, keepdims=True), 1e-6)
    relative = lexical / top
    shape = lexical.shape
    words = np.array([len(query.split()) for query in queries], dtype=np.float32)[:, None]
    kinship = questions @ questions.T
    pointed = softmax(4 * (_others(relative) + _others(cosine)))
    columns = [
        relative,
        lexical / 10,
        1 / _ranks(lexical),
        relative - _rival(relative),
        coverage,
        coverage.max(axis=1, keepdims=True),
        (relative > 0.5).mean(axis=1, keepdims=True),
        cosine,
        1 / _ranks(cosine),
        cosine - _rival(cosine),
        cosine.max(axis=1, keepdims=True),
        cosine.mean(axis=1, keepdims=True),
        _others(relative),
        _others(cosine),
        np.log1p(words),
        np.full(shape, np.log1p(shape[1])),
        top / 10,
        np.log1p(words) - np.log1p(words.max()),
        _others(kinship).mean(axis=1, keepdims=True),
        kinship.mean(axis=1, keepdims=True),
        pointed,
        (pointed / _ranks(lexical)).sum(axis=1, keepdims=True),
        (pointed / _ranks(cosine)).sum(axis=1, keepdims=True),
        (softmax(8 * relative) / _ranks(cosine)).sum(axis=1, keepdims=True),
    ]
    return np.stack([np.broadcast_to(column, shape) for column in columns], axis=-1).astype(np.float32)


def _lexical(
    encoder: Encoder, queries: Sequence[str], passages: Sequence[str]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """BM25 over the pool (Lucene's idf) on word pieces, and the share of the query's idf that a passage holds."""
    bags = [Counter(tokens.ids[1:-1]) for tokens in encoder.tokenizer.singles(passages, _TOKENS)]
    lengths = np.array([max(1, bag.total()) for bag in bags], dtype=np.float32)
    holders = Counter(token for bag in bags for token in bag)
    count, norm = len(bags), _K1 * (1 - _B + _B * lengths / lengths.mean())
    scores, coverage = np.zeros((2, len(queries), count), dtype=np.float32)
    for row, tokens in enumerate(encoder.tokenizer.singles(queries, _TOKENS)):
        total = 1e-6
        for token in dict.fromkeys(tokens.ids[1:-1]):
            idf = float(np.log1p((count - holders[token] + 0.5) / (holders[token] + 0.5)))
            frequency = np.array([bag[token] for bag in bags], dtype=np.float32)
            scores[row] += idf * frequency / (frequency + norm)
            coverage[row] += idf * (frequency > 0)
            total += idf
        coverage[row] /= total
    return scores, coverage


def _ranks(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Ranks from 1 within each row, equal scores in their order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty_like(scores)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1, dtype=np.float32)[None, :], axis=1)
    return ranks


def _rival(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each passage the best score among the row's other passages; 0 where there is none."""
    if scores.shape[1] < 2:
        return np.zeros_like(scores)
    best = np.sort(scores, axis=1)[:, -2:]
    return np.where(scores >= best[:, 1:], best[:, :1], best[:, 1:])


def _others(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each query and passage the mean score that the other queries give the passage; its own where it is alone."""
    count = scores.shape[0]
    return scores if count < 2 else (scores.sum(axis=0, keepdims=True) - scores) / (count - 1)
