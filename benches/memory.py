"""What holds memory: one process with every local model loaded and used, then an evaluation in it, step by step.

    python benches/memory.py [--precision auto] [--layers 6] [--batches 150] [--data FILE [--fold 7] [--limit 20]]

Every step's row has the resident MB after it, what it added, how much of it is mapped from files (shared with other
processes, and the system may drop it), how much is private, and the peak so far. Two made-up adapters with `--layers`
layers of their own stand for heads that are wholly trained. The batches have texts of many lengths, for that is what
makes caches of kernels grow. With `--data`, questions that bring paragraphs, an evaluation of FuRePA with the offline
model follows. Linux only, one thread; exits with 1 when more than `--most` MB are resident at the end.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOST = ("langgraph.graph", "langgraph_evidence.evaluation.evaluate", "langgraph_evidence.methods.furepa.graph")
ASKED, PASSAGE = "Which town is the red bridge in?", "Bridges: The red bridge is in Tarn. It was built in 1902."


def main() -> int:
    """Prints one row a step."""
    options = _options()
    print("| step | resident MB | added | from files | private | peak |\n| --- | --: | --: | --: | --: | --: |")
    resident, _, _ = memory()
    kept: list[Any] = []
    for name, step in steps(options, kept):
        before = resident
        step()
        resident, private, peak = memory()
        figures = [resident, resident - before, resident - private, private, peak]
        print(f"| {name} | {' | '.join(f'{figure:.0f}' for figure in figures)} |", flush=True)
    return 0 if resident <= options.most else 1


def memory() -> tuple[float, float, float]:
    """Resident, private and highest resident MB of this process so far."""
    texts = [Path("/proc/self", name).read_text("ascii") for name in ("smaps_rollup", "status")]
    rows = [line.split() for text in texts for line in text.splitlines() if line]
    found = {row[0]: int(row[1]) / 1024 for row in rows if row[-1] == "kB"}
    return found["Rss:"], found["Anonymous:"], found["VmHWM:"]


def steps(options: argparse.Namespace, kept: list[Any]) -> Iterator[tuple[str, Callable[[], object]]]:
    """What is done, by name and in order; models that are made stay in `kept`, the encoder first."""
    yield "the interpreter", lambda: None
    yield "LangGraph and this library", lambda: [importlib.import_module(name) for name in HOST]
    yield "torch", _import_torch
    yield "the shared encoder", lambda: kept.append(_encoder(options.precision))
    for name, load in _heads().items():
        yield name, partial(_add, kept, load)
    for count in range(2) if options.layers else ():
        name = f"an adapter with {options.layers} layers of its own ({count + 1})"
        yield name, partial(_add, kept, partial(_layered, layers=options.layers))
    yield f"{options.batches} batches of many lengths", lambda: _batches(kept, options.batches)
    if options.data:
        yield f"FuRePA over {options.limit} questions", lambda: _evaluate(options)


def _add(kept: list[Any], load: Callable[[Any], Any]) -> None:
    kept.append(load(kept[0]))


def _import_torch() -> None:
    import torch

    torch.set_num_threads(1)
    torch.ones(8, 8) @ torch.ones(8, 8)


def _encoder(precision: Any) -> Any:
    from langgraph_evidence.models import default_encoder
    from langgraph_evidence.models.base import Encoder

    encoder = default_encoder() if precision == "auto" else Encoder.load(precision=precision)
    encoder.encode([ASKED])
    return encoder


def _heads() -> dict[str, Callable[[Any], Any]]:
    return {
        "the query scorer": lambda base: _used(_room("query_scorer").ListwiseQueryScorer, base, "score"),
        "the reader": lambda base: _used(_room("reader").Reader, base, "read"),
        "entailment": lambda base: _used(_room("entailment").Entailment, base, "probabilities"),
        "the sentence ranker": lambda base: _used(_room("sentence_ranker").SentenceRanker, base, "score"),
        "the progress reward": lambda base: _used(_room("progress_reward").ProgressReward, base, "reward"),
    }


def _room(name: str) -> Any:
    return importlib.import_module(f"langgraph_evidence.models.{name}")


def _used(kind: Any, base: Any, use: str) -> Any:
    model = kind.load(encoder=base)
    given: tuple[Any, ...] = {
        "score": (ASKED if kind.__name__ == "SentenceRanker" else [ASKED, "red bridge"], [PASSAGE, "A dog."]),
        "read": (ASKED, [PASSAGE]),
        "probabilities": ([(PASSAGE, "The red bridge is in Tarn.")],),
        "reward": (ASKED, [["The red bridge is in Tarn."]]),
    }[use]
    getattr(model, use)(*given)
    return model


def _layered(base: Any, layers: int) -> Any:
    """A pair model that went through a file, as a trained one does; the labels are nobody's."""
    from langgraph_evidence.models.base import Adapter, AdapterSpec, PairModel, load_adapter, save_adapter

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made_up.safetensors"
        spec = AdapterSpec("made_up", base.sha256, 0, ("no", "yes"), 384, {}, layers)
        save_adapter(Adapter(base, spec), path)
        model = PairModel(base, load_adapter(base, path, "made_up"))
    model.logits([(ASKED, PASSAGE)])
    return model


def _batches(kept: list[Any], count: int) -> None:
    draw = random.Random(0)
    encoder, scorers = kept[0], [model for model in kept if hasattr(model, "logits")]
    for _ in range(count):
        texts = [_text(draw) for _ in range(draw.randint(1, 12))]
        encoder.encode(texts)
        for scorer in scorers:
            scorer.logits([(ASKED, text) for text in texts])


def _text(draw: random.Random) -> str:
    return " ".join(draw.choices(PASSAGE.split(), k=draw.randint(3, 250)))


def _evaluate(options: argparse.Namespace) -> None:
    from langgraph_evidence.evaluation.evaluate import EvaluationOptions, run_evaluation

    given = EvaluationOptions(concurrency=2)
    run_evaluation("furepa", options.data, fold=options.fold, limit=options.limit, options=given)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    parser.add_argument("--layers", type=int, default=6, help="of the made-up adapters; 0 leaves them out")
    parser.add_argument("--batches", type=int, default=150)
    parser.add_argument("--data", type=Path, help="a file of questions with their own paragraphs")
    parser.add_argument("--fold", type=int)
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--most", type=float, default=600)
    options = parser.parse_args()
    if options.data and options.precision != "auto":
        parser.error("--data takes no --precision: an evaluation uses the process's own encoder.")
    return options


if __name__ == "__main__":
    sys.exit(main())
