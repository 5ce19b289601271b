"""Several trajectories in one sequence without padding: positions begin anew, and with them attention is kept apart.

transformers reads the begins out of `position_ids` where there is neither an attention mask nor a cache, and builds a
mask in which no trajectory sees another; a batch of one such sequence wastes no token.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from typing_extensions import TypedDict

from langgraph_evidence.training.rq_rag.examples import IGNORED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.training.rq_rag.examples import Example


class Packed(TypedDict):
    """One sequence of n tokens with m of them learned, as `Trainer` hands it to the model.

    `logits_to_keep` (m,) are the places before the learned tokens: only there is the vocabulary looked at.
    `shift_labels` and `labels` (1, m) are what is learned there; `input_ids` and `position_ids` are (1, n).
    `use_cache` is off: with a cache, even an empty one, transformers lets trajectories see each other.
    """

    input_ids: Tensor
    position_ids: Tensor
    logits_to_keep: Tensor
    labels: Tensor
    shift_labels: Tensor
    use_cache: bool


def packs(lengths: Sequence[int], room: int, *, seed: int) -> list[list[int]]:
    """Indexes of trajectories by sequence, in random order, each sequence filled first come, first served.

    A trajectory that is longer than the room has a sequence of its own.
    """
    order = random.Random(seed).sample(range(len(lengths)), len(lengths))
    made: list[list[int]] = []
    left = 0
    for index in order:
        if not made or lengths[index] > left:
            made.append([])
            left = room
        made[-1].append(index)
        left -= lengths[index]
    return made


def packed(examples: Sequence[Example]) -> Packed:
    """One sequence of these trajectories, in order."""
    ids = [token for example in examples for token in example.ids]
    # The first token of a trajectory is predicted from nothing, least of all from the trajectory before it.
    labels = [label for example in examples for label in (IGNORED, *example.labels[1:])]
    places = [place for place, label in enumerate(labels) if label != IGNORED]
    targets = torch.tensor([[labels[place] for place in places]])
    return Packed(
        input_ids=torch.tensor([ids]),
        position_ids=torch.cat([torch.arange(len(example.ids)) for example in examples])[None],
        logits_to_keep=torch.tensor([place - 1 for place in places]),
        labels=targets,
        shift_labels=targets,
        use_cache=False,
    )
