"""The trained heads on a CPU: pairs a second, fresh and cached, and the memory of all of them over one base.

    python benches/heads.py [--pairs 96] [--rounds 3] [--precision auto] [--quick]

A pair is a question or sentence of a dozen words and a text, together 128 or 256 tokens before the head cuts or packs
them: the sentence ranker reads no more than its adapter's. Fresh pairs find every
cache empty; cached ones were scored before. On a busy machine, what one thread does in a CPU second is about what an
idle core does in a second. Memory is the resident size of a fresh process after one score a head.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.resources
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from langgraph_evidence.models.base import Encoder, RowCache
from langgraph_evidence.models.entailment import Entailment
from langgraph_evidence.models.reader import Reader
from langgraph_evidence.models.sentence_ranker import SentenceRanker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Pairs = Sequence[tuple[str, str]]

ASKED = "Which of the two films about the old city was made by the younger director?"
SAID = "The younger director made the second of the two films about the old city."
LENGTHS, THREADS = (128, 256), (2, 1)
SPECIAL = 3  # [CLS] and two [SEP]

# Runs alone in a fresh interpreter, so that nothing else of this process counts.
MEMORY = """
import sys, psutil
rss = lambda: psutil.Process().memory_info().rss / 2**20
bare = rss()
from langgraph_evidence.models.base import Encoder
from langgraph_evidence.models import default_encoder
from langgraph_evidence.models.entailment import Entailment
from langgraph_evidence.models.progress_reward import ProgressReward
from langgraph_evidence.models.query_scorer import ListwiseQueryScorer
from langgraph_evidence.models.reader import Reader
from langgraph_evidence.models.sentence_ranker import SentenceRanker
import torch
torch.set_num_threads(2)
torch.ones(8, 8) @ torch.ones(8, 8)
imported = rss()
heads = {
    "base": lambda base: base.encode(["A red cat."]),
    "reader": lambda base: Reader.load(encoder=base).read("What is red?", ["Cats: A cat is red."]),
    "entailment": lambda base: Entailment.load(encoder=base).probabilities([("A cat is red.", "It is red.")]),
    "sentence_ranker": lambda base: SentenceRanker.load(encoder=base).score("What is red?", ["A cat is red."]),
    "query_scorer": lambda base: ListwiseQueryScorer.load(encoder=base).score(["red", "cat"], ["A cat.", "A dog."]),
    "progress_reward": lambda base: ProgressReward.load(encoder=base).reward("What is red?", [["A cat is red."]]),
}
kept = []
for name in sys.argv[2].split(","):
    base = default_encoder() if sys.argv[1] == "shared" else Encoder.load()
    kept.append((base, heads[name](base)))
print(rss() - imported, imported - bare)
"""
HEADS = "reader,entailment,sentence_ranker,query_scorer,progress_reward"
LOADED = {
    "the base alone": ("shared", "base"),
    "the reader": ("shared", "reader"),
    "all five heads, one base": ("shared", HEADS),
    "all five heads, a base each": ("own", HEADS),
}


def main() -> int:
    """Prints the two tables."""
    options = _options()
    encoder = Encoder.load(precision=options.precision)
    print(f"pairs a second ({options.pairs} pairs, median of {options.rounds} rounds, {encoder.precision})\n")
    print("| head | tokens | threads | fresh | fresh, a CPU second | cached |")
    print("| --- | --: | --: | --: | --: | --: |")
    for name, fresh in score_makers(encoder).items():
        for length in LENGTHS:
            for threads in THREADS:
                torch.set_num_threads(threads)
                found = rates(fresh, encoder, options, length)
                print(f"| {name} | {length} | {threads} | {' | '.join(f'{rate:,.0f}' for rate in found)} |", flush=True)
    print("\nresident memory of a fresh process, MB above the imports\n")
    print("| loaded and used | MB |\n| --- | --: |")
    for name, loaded in LOADED.items():
        above, imports = memory(*loaded)
        print(f"| {name} | {above:.0f} |", flush=True)
    print(f"\nThe imports, torch above all, are {imports:.0f} MB above the bare interpreter.")
    return 0


def score_makers(encoder: Encoder) -> dict[str, Callable[[], Callable[[Pairs], object]]]:
    """For each head, what opens it with an empty cache of its own: a function that scores (short, long) pairs."""

    def entailment() -> Callable[[Pairs], object]:
        head = Entailment.load(encoder=encoder)
        return lambda pairs: head.probabilities([(text, SAID) for _, text in pairs])

    def reader() -> Callable[[Pairs], object]:
        head = Reader.load(encoder=encoder)
        return lambda pairs: head.read_batch([(asked, [text]) for asked, text in pairs])

    def ranker() -> Callable[[Pairs], object]:
        head = SentenceRanker.load(encoder=encoder)
        return lambda pairs: head.score(ASKED, [text for _, text in pairs])

    return {"entailment": entailment, "reader": reader, "sentence ranker": ranker}


def rates(
    fresh: Callable[[], Callable[[Pairs], object]], encoder: Encoder, options: argparse.Namespace, length: int
) -> list[float]:
    """Pairs a second, fresh, fresh by the processor's clock, and cached: medians over rounds of new pairs."""
    texts = long_texts(encoder, length)
    score = fresh()
    score([(ASKED, next(texts)) for _ in range(4)])
    seconds: list[tuple[float, float, float]] = []
    for _ in range(options.rounds):
        pairs = [(ASKED, next(texts)) for _ in range(options.pairs)]
        encoder.cache = RowCache(20_000)
        start, busy = time.perf_counter(), time.process_time()
        score(pairs)
        middle, used = time.perf_counter(), time.process_time() - busy
        score(pairs)
        seconds.append((middle - start, used, time.perf_counter() - middle))
    return [options.pairs / statistics.median(times) for times in zip(*seconds, strict=True)]


def long_texts(encoder: Encoder, length: int) -> Iterator[str]:
    """Stretches of the package's sample that make pairs of `length` tokens with the question, none twice."""
    packed = Path(str(importlib.resources.files("langgraph_evidence.data"))) / "sample_passages.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(packed.read_bytes()).decode("utf-8").splitlines()]
    room = length - SPECIAL - len(encoder.tokenizer.fast.encode(ASKED, add_special_tokens=False).ids)
    everything = " ".join(f"{row['title']}: {row['text']}" for row in rows)
    offsets = encoder.tokenizer.fast.encode(everything, add_special_tokens=False).offsets
    for first in range(0, len(offsets) - room, room):
        yield everything[offsets[first][0] : offsets[first + room - 1][1]]


def memory(bases: str, heads: str) -> tuple[float, float]:
    """Resident MB of a fresh process: what the heads add to the imports, and what those add to the interpreter."""
    done = subprocess.run([sys.executable, "-c", MEMORY, bases, heads], capture_output=True, text=True, check=True)
    above, imports = map(float, done.stdout.split())
    return above, imports


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    parser.add_argument("--quick", action="store_true", help="a dozen pairs and one round")
    options = parser.parse_args()
    if options.quick:
        options.pairs, options.rounds = 12, 1
    return options


if __name__ == "__main__":
    sys.exit(main())
