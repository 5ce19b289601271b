"""Fine-tunes a causal language model on records of RQ-RAG, by transformers' Trainer and peft (section 2.2, equation 2).

On several devices it runs under `accelerate launch`; what runs there is decided by its configuration, nothing here.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import random
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.base import read_json, sha256_of, write_aside
from langgraph_evidence.models.base.device import fastest_precision
from langgraph_evidence.training.base import TRAIN_FOLDS, TUNE_FOLD, Progress, TrainResult
from langgraph_evidence.training.rq_rag.examples import Encoder, ExampleOptions
from langgraph_evidence.training.rq_rag.keeping import Keeper
from langgraph_evidence.training.rq_rag.openings import open_base, with_adapter
from langgraph_evidence.training.rq_rag.packing import packed, packs
from langgraph_evidence.training.rq_rag.records import of_folds, read_records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from langgraph_evidence.training.rq_rag.openings import Base
    from langgraph_evidence.training.rq_rag.options import FineTuneOptions
    from langgraph_evidence.training.rq_rag.packing import Packed
    from langgraph_evidence.training.rq_rag.records import Record

NAME = "rq_rag"
"""Of the trained folder."""
_IDENTITY = "identity.json"
_PACKAGES = ("torch", "transformers", "peft", "accelerate")


def fine_tune(
    source: str | Path,
    records: Path,
    out: Path,
    *,
    options: FineTuneOptions,
    called: str = "",
    device: str = "auto",
    resume: bool = False,
    report: Callable[[int, int, float], None] | None = None,
) -> TrainResult:
    """Trains on folds 0-6 of a file of records, measures the loss on fold 7, and keeps the best in `out/rq_rag`.

    Args:
        source: The base model: a folder or a hub id.
        records: Made by `make_records` or the annotation.
        out: Folder of the checkpoints, the course and the adapter.
        options: How.
        called: What the card and the adapter call the base; its source where none is given.
        device: auto, cpu or cuda.
        resume: Go on from the last checkpoint in `out`, where there is one.
        report: Is told the step, the number of all steps, and the loss.

    Raises:
        InvalidInput: No records of these folds fit, or an option is wrong.
        ResourceError: The base or the records cannot be read, or the checkpoint is of another run.
        MissingExtra: peft or transformers is not installed.
    """
    if options.threads:
        torch.set_num_threads(options.threads)
    base, rows, called = open_base(source, device=device), read_records(records), called or str(source)
    identity = {"options": asdict(options), "records": sha256_of(records), "base": called}
    _same_run(out, identity, resume=resume)
    learned = _packed(base, _drawn(of_folds(rows, TRAIN_FOLDS), options.records, options), options)
    measured = _packed(base, _drawn(of_folds(rows, [TUNE_FOLD]), options.measured, options), options)
    card = _card(identity, rows, base, learned)
    keeper = Keeper(out, out / NAME, card, minutes=options.save_minutes, report=report)
    trainer = _trainer(base, learned, measured, keeper, out=out, options=options, called=called)
    return _run(trainer, keeper, _last_checkpoint(out) if resume else None)


def _run(trainer: Any, keeper: Keeper, last: str | None) -> TrainResult:
    if last is not None:
        keeper.resume()
    trainer.train(resume_from_checkpoint=last)
    if not keeper.history or keeper.history[-1]["step"] < trainer.state.global_step:
        trainer.evaluate()
    progress = Progress(step=trainer.state.global_step, best=-keeper.best["loss"], history=list(keeper.history))
    return TrainResult({"loss": keeper.best["loss"], "step": keeper.best["step"]}, progress)


def _same_run(out: Path, identity: dict[str, Any], *, resume: bool) -> None:
    path = out / _IDENTITY
    known = json.loads(json.dumps(identity))
    if resume and path.is_file() and read_json(path) != known:
        raise ResourceError(f"{out} holds a run with other options or records. Give another folder, or do not resume.")
    out.mkdir(parents=True, exist_ok=True)
    write_aside(path, json.dumps(known, indent=2, sort_keys=True).encode())


def _drawn(records: Sequence[Record], count: int, options: FineTuneOptions) -> list[Record]:
    """So many records by the seed, in their own order; all where `count` is 0 or more than there are."""
    if not count or count >= len(records):
        return list(records)
    chosen = sorted(random.Random(options.seed).sample(range(len(records)), count))
    return [records[index] for index in chosen]


def _packed(base: Base, records: Sequence[Record], options: FineTuneOptions) -> list[Packed]:
    how = ExampleOptions(max_tokens=options.max_tokens, mask_retrieved=options.mask_retrieved)
    examples = Encoder(base.tokenizer, base.tokens, how).examples(records)
    if not examples:
        raise InvalidInput("No record of these folds fits: make records of folds 0 to 7, or raise max_tokens.")
    groups = packs([len(example.ids) for example in examples], options.batch_tokens, seed=options.seed)
    return [packed([examples[index] for index in group]) for group in groups]


def _card(identity: dict[str, Any], rows: Sequence[Record], base: Base, learned: Sequence[Packed]) -> dict[str, Any]:
    return identity | {
        "control_tokens": asdict(base.tokens),
        "sequences": len(learned),
        "tokens": sum(batch["input_ids"].numel() for batch in learned),
        "learned_tokens": sum(batch["labels"].numel() for batch in learned),
        "datasets": sorted({row["source"]["dataset"] for row in rows}),
        "forms": sorted({row["form"] for row in rows}),
        "longest_passage": max(
            (len(p["text"]) for row in rows for s in row["steps"] for p in s["passages"]), default=0
        ),
        "versions": {name: importlib.metadata.version(name) for name in _PACKAGES},
    }


def _trainer(
    base: Base,
    learned: list[Packed],
    measured: list[Packed],
    keeper: Keeper,
    *,
    out: Path,
    options: FineTuneOptions,
    called: str,
) -> Any:
    from transformers import Trainer

    # The adapter's initial values are drawn before Trainer sets its seed.
    torch.manual_seed(options.seed)
    model = with_adapter(base, options)
    if not options.full:
        model.peft_config["default"].base_model_name_or_path = called
    return Trainer(
        model=model,
        args=_arguments(out, options, on=base.model.device, sequences=len(learned)),
        train_dataset=learned,
        eval_dataset=measured,
        data_collator=_only,
        processing_class=base.tokenizer,
        callbacks=[keeper],
    )


def _only(batch: list[Packed]) -> Packed:
    """A batch is one packed sequence as it is."""
    return batch[0]


def _arguments(out: Path, options: FineTuneOptions, *, on: torch.device, sequences: int) -> Any:
    from transformers import TrainingArguments

    precision = fastest_precision(on) if options.precision == "auto" else options.precision
    steps = math.ceil(sequences / options.accumulate)
    return TrainingArguments(
        output_dir=str(out / "checkpoints"),
        per_device_train_batch_size=1,
        per_device_eval_batch_size=1,
        gradient_accumulation_steps=options.accumulate,
        num_train_epochs=options.epochs,
        max_steps=options.max_steps or -1,
        learning_rate=options.rate,
        warmup_steps=options.warmup,
        max_grad_norm=options.clip,
        activation_checkpointing=options.gradient_checkpointing,
        bf16=precision == "bf16",
        use_cpu=on.type == "cpu",
        seed=options.seed,
        eval_strategy="steps",
        eval_steps=options.measure_every or steps,
        prediction_loss_only=True,
        save_strategy="no",
        save_total_limit=2,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
    )


def _last_checkpoint(out: Path) -> str | None:
    from transformers.trainer_utils import get_last_checkpoint

    folder = out / "checkpoints"
    return get_last_checkpoint(str(folder)) if folder.is_dir() else None
