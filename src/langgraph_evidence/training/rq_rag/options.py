"""How RQ-RAG's records are made and its language model is fine-tuned; every value is written to the adapter's card."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
Form = Literal["refined", "one_shot"]
"""Whether the model refines its queries (equation 1), or reads once what the question itself finds: its fair rival."""
_NESTED = "make"
_Count = Annotated[int, Field(ge=0)]
_Positive = Annotated[int, Field(ge=1)]
_Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, kw_only=True)
class MakeOptions:
    """Which records are made, and how their evidence is found and shown.

    Args:
        form: refined, or one_shot for the rival that is trained on the same rows.
        datasets: all, or names with commas between them.
        most: Rows of a data set at most; 0 takes all.
        max_hops: Questions of more hops are left out; 0 takes all.
        passages: A query gets (section 2.1; appendix B.4: the top 3).
        unseen: A query brings passages that its trajectory does not show yet, as the method's own default has it;
            by the paper the same one may come again.
        passage_chars: The most characters of a passage that are shown, in training and, by its card, at inference.
    """

    form: Form = "refined"
    datasets: str = "all"
    most: _Count = 0
    max_hops: _Count = 0
    passages: _Positive = 3
    unseen: bool = True
    passage_chars: Annotated[int, Field(ge=50, le=100_000)] = 2000


@dataclass(frozen=True, kw_only=True)
class FineTuneOptions:
    """The paper's values where it has them (appendix B.1); LoRA's own where the paper trains all weights.

    Args:
        full: Train all weights, as the paper does, instead of an adapter.
        rank: Of the adapter's matrices, on attention and MLP.
        alpha: Scales the adapter by alpha / rank.
        dropout: Within the adapter.
        epochs: Passes over the records.
        learning_rate: Peak of AdamW; None is the paper's 2e-5 for all weights, and ten times that for an adapter.
        warmup: Share of the steps over which the rate rises; then it falls to zero in a line.
        clip: Largest gradient norm.
        batch_tokens: Tokens of one packed sequence on one device.
        accumulate: Sequences a device gathers before it steps.
        max_tokens: Of one trajectory; passages are shortened until it fits.
        mask_retrieved: Whether retrieved text carries no loss.
        records: Learn from so many records only, drawn by the seed; 0 takes all.
        measured: Records of fold 7 that are measured, drawn alike; 0 takes all.
        measure_every: Steps between measurements; 0 measures once an epoch.
        save_minutes: Minutes between checkpoints.
        max_steps: Stops after so many steps; 0 is no limit.
        seed: Of the choice and order of records, dropout and initial values.
        precision: auto, fp32 or bf16; auto takes bf16 where the device multiplies in it.
        gradient_checkpointing: Compute activations again instead of keeping them: a third more time, far less memory.
        threads: Of torch on a processor; 0 leaves it alone.
    """

    full: bool = False
    rank: _Positive = 16
    alpha: _Positive = 32
    dropout: _Share = 0.0
    epochs: Annotated[float, Field(gt=0)] = 1.0
    learning_rate: Annotated[float, Field(gt=0)] | None = None
    warmup: _Share = 0.03
    clip: Annotated[float, Field(gt=0)] = 1.0
    batch_tokens: _Positive = 4096
    accumulate: _Positive = 4
    max_tokens: _Positive = 4096
    mask_retrieved: bool = True
    records: _Count = 0
    measured: _Count = 0
    measure_every: _Count = 0
    save_minutes: Annotated[float, Field(gt=0)] = 5.0
    max_steps: _Count = 0
    seed: _Count = 0
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    gradient_checkpointing: bool = False
    threads: _Count = 0

    @property
    def rate(self) -> float:
        """The learning rate that is meant."""
        if self.learning_rate is not None:
            return self.learning_rate
        return 2e-5 if self.full else 2e-4


def read_options(options: type[T], given: Mapping[str, Any]) -> T:
    """Options out of words or values by name.

    Raises:
        InvalidInput: A value is not allowed; the message names it and what it takes.
    """
    try:
        return TypeAdapter(options).validate_python(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"{name} was given as {first['input']!r}: {first['msg']}.") from None


def options_of(given: Mapping[str, str], *kinds: type[Any]) -> tuple[Any, ...]:
    """Options of several kinds out of one set of words, each known by its name.

    Raises:
        InvalidInput: A name is no option of theirs, or a value is not allowed.
    """
    names = {kind: {field.name for field in fields(kind) if field.name != _NESTED} for kind in kinds}
    known = sorted(set[str]().union(*names.values()))
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise InvalidInput(f"There is no option {unknown[0]!r}. Options: {', '.join(known)}.")
    chosen = ({name: value for name, value in given.items() if name in names[kind]} for kind in kinds)
    return tuple(read_options(kind, values) for kind, values in zip(kinds, chosen, strict=True))
