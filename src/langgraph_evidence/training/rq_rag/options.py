"""How RQ-RAG's language model is fine-tuned; every value is written to the adapter's card."""

from __future__ import annotations

from dataclasses import dataclass


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
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    epochs: float = 1.0
    learning_rate: float | None = None
    warmup: float = 0.03
    clip: float = 1.0
    batch_tokens: int = 4096
    accumulate: int = 4
    max_tokens: int = 4096
    mask_retrieved: bool = True
    records: int = 0
    measured: int = 0
    measure_every: int = 0
    save_minutes: float = 5.0
    max_steps: int = 0
    seed: int = 0
    precision: str = "auto"
    gradient_checkpointing: bool = False
    threads: int = 0

    @property
    def rate(self) -> float:
        """The learning rate that is meant."""
        if self.learning_rate is not None:
            return self.learning_rate
        return 2e-5 if self.full else 2e-4
