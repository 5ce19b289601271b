"""Encoding speed and ranking against sentence-transformers in float32: the same texts, in turns, in one process.

    python benches/encoder.py [--data passages.jsonl.gz] [--limit 400] [--rounds 3] [--threads 2] [--precision auto]

Exits with 1 unless the encoder is at least `--least` times as fast with the same ranking.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.resources
import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from langgraph_evidence.models.base import Encoder, RowCache, find_base

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_SAMPLE = "sample_passages.jsonl.gz"


def main() -> int:
    """Runs the bench and prints one JSON object."""
    options = _options()
    torch.set_num_threads(options.threads)
    texts = read_texts(options.data, options.limit)
    ours, theirs = _ours(options.precision), _theirs()
    seconds, vectors = race({"ours": ours, "sentence-transformers": theirs}, texts, options.rounds)
    figures: dict[str, Any] = {
        f"{name}_passages_a_second": round(len(texts) / time, 1) for name, time in seconds.items()
    }
    figures["ratio"] = round(seconds["sentence-transformers"] / seconds["ours"], 2)
    figures |= agreement(vectors["ours"], vectors["sentence-transformers"])
    figures |= {"texts": len(texts), "threads": options.threads, "precision": options.precision}
    print(json.dumps(figures, indent=2))
    same = figures["top10_overlap"] >= 0.99 and figures["rank_correlation"] >= 0.99
    return 0 if figures["ratio"] >= options.least and same else 1


def race(
    encoders: dict[str, Callable[[list[str]], Vectors]], texts: list[str], rounds: int
) -> tuple[dict[str, float], dict[str, Vectors]]:
    """Median seconds and vectors of each encoder; they take turns, so that a busy machine slows both."""
    times: dict[str, list[float]] = {name: [] for name in encoders}
    vectors = {name: encode(texts[:32]) for name, encode in encoders.items()}
    for turn in range(rounds):
        for name, encode in list(encoders.items())[:: 1 if turn % 2 == 0 else -1]:
            start = time.perf_counter()
            vectors[name] = encode(texts)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}, vectors


def agreement(first: Vectors, second: Vectors) -> dict[str, float]:
    """Overlap of each text's ten nearest neighbours, and Spearman's correlation of all similarities, means."""
    similarities = [vectors @ vectors.T for vectors in (first, second)]
    for matrix in similarities:
        np.fill_diagonal(matrix, -np.inf)
    orders = [np.argsort(-matrix, axis=1, kind="stable") for matrix in similarities]
    overlap = [len(set(a[:10]) & set(b[:10])) / 10 for a, b in zip(*orders, strict=True)]
    ranks = [np.argsort(order, axis=1) for order in orders]
    correlation = [np.corrcoef(a, b)[0, 1] for a, b in zip(*ranks, strict=True)]
    return {
        "top10_overlap": round(float(np.mean(overlap)), 4),
        "top1_same": round(float(np.mean(orders[0][:, 0] == orders[1][:, 0])), 4),
        "rank_correlation": round(float(np.mean(correlation)), 5),
        "least_cosine": round(float((first * second).sum(axis=1).min()), 6),
    }


def read_texts(path: Path | None, limit: int) -> list[str]:
    """Titles and texts of a JSON Lines file, or of the package's sample."""
    if path is None:
        path = Path(str(importlib.resources.files("langgraph_evidence.data"))) / _SAMPLE
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    step = max(1, len(rows) // limit)
    return [f"{row.get('title', '')} {row['text']}".strip() for row in rows[::step]][:limit]


def _ours(precision: Any) -> Callable[[list[str]], Vectors]:
    encoder = Encoder.load(precision=precision)

    def encode(texts: list[str]) -> Vectors:
        encoder.cache = RowCache(0)
        return encoder.encode(texts)

    return encode


def _theirs() -> Callable[[list[str]], Vectors]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(find_base().folder), device="cpu")

    def encode(texts: list[str]) -> Vectors:
        return np.asarray(model.encode(texts, normalize_embeddings=True, show_progress_bar=False), dtype=np.float32)

    return encode


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    parser.add_argument("--least", type=float, default=2.0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
