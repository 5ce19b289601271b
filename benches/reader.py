"""Readers side by side on a fold, and what a reading costs beside one pass of the encoder.

    python benches/reader.py --data DIR [--reader FILE ...] [--fold 7] [--json OUT]
    python benches/reader.py --cost [--reader FILE]

DIR is laid out as the project's data. Each `--reader` is an adapter file; without one the shipped one is measured.
EM and F1 in percent are those of an answer that must be given; `declined` is the share of the answerable questions that
the reader leaves when it may, `EM, may decline` what then is right of all. The second command times readings and
rankings of texts of several lengths against the encoder's layers alone over the very same tokens, in turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from langgraph_evidence.evaluation.tables import markdown_table
from langgraph_evidence.models.base import Encoder, shipped
from langgraph_evidence.models.reader import MAX_TOKENS, Reader, packed
from langgraph_evidence.models.sentence_ranker import SentenceRanker
from langgraph_evidence.training.base import TUNE_FOLD
from langgraph_evidence.training.reader import evaluate_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from langgraph_evidence.models.base import Batch, Tokens

COLUMNS = ("n", "em", "f1", "declined", "accuracy", "ranked_right")
QUESTION = "Which of the two films about the old city was made by the younger director?"
SENTENCE = "The film about the old city was made in 1954 by a director who was born in the north of the country. "


def main() -> int:
    """Prints one of the two tables."""
    options = _options()
    torch.set_num_threads(1)
    if options.cost:
        print(cost_table(options.reader[0] if options.reader else None))
        return 0
    tables = {str(path): rows_of(options, path) for path in options.reader or [shipped("reader")]}
    print(side_by_side(tables))
    if options.json:
        options.json.write_text(json.dumps(tables, indent=2), "utf-8")
    return 0


def rows_of(options: argparse.Namespace, path: Path) -> dict[str, dict[str, Any]]:
    """One reader's rows, without the baselines', by measure and system."""
    rows = evaluate_reader(options.data, (options.fold,), reader=Reader.load(path), baselines=False)["rows"]
    return {f"{row['measure']}, {row['system']}": row for row in rows}


def side_by_side(tables: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The figures of every reader, one below the other for each measure."""
    lines = []
    for name in next(iter(tables.values())):
        for path, rows in tables.items():
            lines.append([name, Path(path).stem, *(str(rows[name].get(column, "")) for column in COLUMNS)])
    return markdown_table(("measure", "reader", *COLUMNS), lines, left=2)


def cost_table(path: Path | None) -> str:
    """Seconds of a reading and of a ranking as multiples of one pass of the layers over the same tokens."""
    encoder = Encoder.load()
    reader, ranker = Reader.load(path, encoder=encoder), SentenceRanker.load(encoder=encoder)

    def ranking(turn: int) -> tuple[Callable[[], object], list[Tokens]]:
        texts = [f"Film {n} of {turn}: {SENTENCE}" for n in range(96)]
        pairs = encoder.tokenizer.pairs([(QUESTION, text) for text in texts], 192)
        singles = encoder.tokenizer.singles(texts, encoder.text_tokens)
        return lambda: ranker.score(QUESTION, texts), pairs + singles

    def reading(sentences: int, turn: int) -> tuple[Callable[[], object], list[Tokens]]:
        asked = [(QUESTION, [f"Film {n} of {turn}: {SENTENCE * sentences}"]) for n in range(24)]
        cut = [window.tokens for ask in asked for window in packed(encoder.tokenizer, *ask, MAX_TOKENS)]
        return lambda: reader.read_batch(asked), cut

    turns = {f"reader, {count} sentences": partial(reading, count) for count in (2, 8, 14)}
    lines = [[name, f"{ratio(turn, encoder):.2f}"] for name, turn in (turns | {"sentence ranker": ranking}).items()]
    return markdown_table(("head", "times one pass"), lines)


def ratio(turn: Callable[[int], tuple[Callable[[], object], list[Tokens]]], encoder: Encoder, turns: int = 5) -> float:
    """The median, over turns, of the time of a turn's work over that of the layers alone over its tokens."""
    times = []
    for number in range(turns + 1):
        work, inputs = turn(number)
        times.append(seconds(work) / seconds(partial(encoder.run, inputs, first_token)))
    return statistics.median(times[1:])


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of this process, which others on the machine change less than the clock's."""
    start = time.process_time()
    work()
    return time.process_time() - start


def first_token(hidden: Tensor, _batch: Batch) -> Tensor:
    """The cheapest head there is."""
    return hidden[:, 0]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--reader", type=Path, action="append")
    parser.add_argument("--fold", type=int, default=TUNE_FOLD)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--cost", action="store_true", help="time the readings instead")
    options = parser.parse_args()
    if not options.cost and options.data is None:
        parser.error("--data is needed, or --cost")
    return options


if __name__ == "__main__":
    sys.exit(main())
