"""Entailment's cost: pairs a second against one encoder pass over the same tokens, and against an earlier head.

    python benches/entailment.py [--pairs 96] [--rounds 5] [--threads 1] [--precision auto] [--other DIR]

The pairs are a sentence and a stretch of the package's sample, together 64 to 256 tokens before the head packs them.
One encoder pass reads the same token ids, in the same batches, without adapter or head. What is compared takes turns,
so that a busy machine slows all; no cache holds a pair. `--other` is the `src` folder of another checkout of this
project: its shipped head reads the same pairs in a process of its own, in turns with this one.

Exits with 1 when a pair costs more than `--most` encoder passes, or less than `--least` times as little as the other.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.resources
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from langgraph_evidence.models.base import Encoder
from langgraph_evidence.models.entailment import MAX_TOKENS, Entailment
from langgraph_evidence.models.entailment.features import packed_pairs
from langgraph_evidence.models.entailment.head import PREMISE_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    Pairs = list[tuple[str, str]]

WORDS = (40, 80, 120, 180)
SAID = "The younger director made the second of the two films about the old city."

# Answers each line of pairs (JSON) with the seconds that a fresh score of them took, by the clock and by the processor.
SERVE = """
import json, sys, time
import torch
from langgraph_evidence.models.base import Encoder, RowCache
from langgraph_evidence.models.entailment import Entailment
torch.set_num_threads(int(sys.argv[1]))
encoder = Encoder.load(precision=sys.argv[2])
model = Entailment.load(encoder=encoder)
model.probabilities([("A cat is red.", "It is red.")])
print("ready", flush=True)
for line in sys.stdin:
    pairs = [tuple(pair) for pair in json.loads(line)]
    encoder.cache = RowCache(20_000)
    start, busy = time.perf_counter(), time.process_time()
    model.probabilities(pairs)
    print(json.dumps([time.perf_counter() - start, time.process_time() - busy]), flush=True)
"""


class Other:
    """The shipped head of another checkout, in a process of its own.

    Args:
        source: That checkout's `src`.
        options: Threads and precision.
    """

    def __init__(self, source: Path, options: argparse.Namespace) -> None:
        command = [sys.executable, "-c", SERVE, str(options.threads), options.precision]
        environment = os.environ | {"PYTHONPATH": str(source)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._answer()

    def _answer(self) -> str:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SystemExit("The other checkout's head did not answer; see its error above.")
        return line

    def seconds(self, pairs: Pairs) -> tuple[float, float]:
        """What a fresh score of the pairs took, by the clock and by the processor."""
        if self._process.stdin:
            self._process.stdin.write(json.dumps(pairs) + "\n")
            self._process.stdin.flush()
        clock, busy = json.loads(self._answer())
        return float(clock), float(busy)


def main() -> int:
    """Runs the bench and prints one JSON object."""
    options = _options()
    torch.set_num_threads(options.threads)
    encoder = Encoder.load(precision=options.precision)
    model, texts = Entailment.load(encoder=encoder), stretches()
    contestants = {"head": timed(model.probabilities), "encoder pass": timed(lambda pairs: one_pass(encoder, pairs))}
    if options.other:
        contestants["other head"] = Other(options.other, options).seconds
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for turn in range(options.rounds + 1):
        pairs = [(next(texts)[WORDS[place % len(WORDS)]], SAID) for place in range(options.pairs)]
        for name, seconds in list(contestants.items())[:: 1 if turn % 2 == 0 else -1]:
            times[name].append(seconds(pairs))
    figures = summary({name: found[1:] for name, found in times.items()}, options)
    print(json.dumps(figures, indent=2))
    slow = figures["encoder_passes_a_pair"] > options.most
    return int(slow or figures.get("times_as_fast_as_other", options.least) < options.least)


def timed(score: Callable[[Pairs], Any]) -> Callable[[Pairs], tuple[float, float]]:
    """A function that scores pairs and says how long it took, by the clock and by the processor."""

    def seconds(pairs: Pairs) -> tuple[float, float]:
        start, busy = time.perf_counter(), time.process_time()
        score(pairs)
        return time.perf_counter() - start, time.process_time() - busy

    return seconds


def one_pass(encoder: Encoder, pairs: Pairs) -> Any:
    """One reading of the tokens that the head reads, tokenised once, batched alike, with no adapter."""
    inputs = encoder.tokenizer.pairs(packed_pairs(pairs, max_words=PREMISE_WORDS), MAX_TOKENS)
    return np.stack(encoder.run(inputs, lambda hidden, _batch: hidden[:, 0]))


def summary(times: dict[str, list[tuple[float, float]]], options: argparse.Namespace) -> dict[str, Any]:
    """Medians over the rounds: pairs a second by the clock, and ratios by the processor's time."""
    busy = {name: [found[1] for found in rounds] for name, rounds in times.items()}
    clock = {name: statistics.median(found[0] for found in rounds) for name, rounds in times.items()}
    figures: dict[str, Any] = {
        f"{name}, pairs a second": round(options.pairs / found, 1) for name, found in clock.items()
    }
    figures["encoder_passes_a_pair"] = _ratio(busy["head"], busy["encoder pass"])
    if "other head" in busy:
        figures["times_as_fast_as_other"] = _ratio(busy["other head"], busy["head"])
    return figures | {"pairs": options.pairs, "threads": options.threads, "precision": options.precision}


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return round(statistics.median(one / two for one, two in zip(ours, theirs, strict=True)), 3)


def stretches() -> Any:
    """Endless different stretches of the package's sample, each as a mapping from a number of words to a text."""
    packed = Path(str(importlib.resources.files("langgraph_evidence.data"))) / "sample_passages.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(packed.read_bytes()).decode("utf-8").splitlines()]
    words = " ".join(f"{row['title']}: {row['text']}" for row in rows).split()
    place = 0
    while True:
        yield {count: " ".join(words[place : place + count]) for count in WORDS}
        place = (place + 37) % (len(words) - max(WORDS))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    parser.add_argument("--other", type=Path, help="the src folder of another checkout, whose head is compared")
    parser.add_argument("--most", type=float, default=1.15)
    parser.add_argument("--least", type=float, default=2.5)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
