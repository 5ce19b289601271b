"""The paper's generation progress reward: the log-ratio of a preference-aligned language model and its reference.

R_g = sum over k of w_k log(pi(y_k | x, y_<k) / pi_ref(y_k | x, y_<k)), w_k = 1 / (number of sentences); Think&Cite,
section 3.3. The two are causal language models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.base import RowCache, content_key
from langgraph_evidence.models.causal import CausalModel
from langgraph_evidence.models.progress_reward.reward import GenerationReward

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from langgraph_evidence.models.causal import TokenLikelihood

_CACHED_ROWS = 20_000


class DpoProgressReward(GenerationReward):
    """R_g of Think&Cite for any policy and reference; not bounded.

    Args:
        policy: The preference-aligned model.
        reference: The model it was aligned from.
        template: The prompt before the answer, with `$question` in it.

    Raises:
        InvalidInput: The template has no `$question`.
    """

    def __init__(
        self,
        policy: TokenLikelihood,
        reference: TokenLikelihood,
        *,
        template: str = "Question: $question\nAnswer:",
    ) -> None:
        if "$question" not in template:
            raise InvalidInput(f"The template {template!r} has no $question in it.")
        self._models, self._template = (policy, reference), template
        self._caches = (RowCache(_CACHED_ROWS), RowCache(_CACHED_ROWS))

    @classmethod
    def load(cls, policy: str | Path, reference: str | Path, *, device: str = "auto") -> DpoProgressReward:
        """Loads both models from local paths or hub ids.

        Raises:
            ResourceError: One of them is not there.
        """
        return cls(*(CausalModel.load(one, device=device, precision="stored") for one in (policy, reference)))

    def _rewards(self, question: str, answers: Sequence[Sequence[str]]) -> list[float]:
        return [float(np.mean(self._log_ratios(question, sentences))) for sentences in answers]

    def _log_ratios(self, question: str, sentences: Sequence[str]) -> NDArray[np.float32]:
        prompt = self._template.replace("$question", question)
        text, starts = prompt, []
        for sentence in sentences:
            starts.append(len(text))
            text = f"{text} {sentence}"
        key, rows = content_key(text, str(starts)), []
        for model, cache in zip(self._models, self._caches, strict=True):
            row = cache.get(key)
            if row is None:
                row = _by_sentence(model, text, starts)
                cache.put(key, row)
            rows.append(row)
        return rows[0] - rows[1]


def _by_sentence(model: TokenLikelihood, text: str, starts: Sequence[int]) -> NDArray[np.float32]:
    """Log-probability of each sentence: of the tokens that begin in it or in the space before it."""
    totals = np.zeros(len(starts), dtype=np.float32)
    for start, value in model.log_probabilities(text):
        place = int(np.searchsorted(np.asarray(starts), start, side="right")) - 1
        if place >= 0:
            totals[place] += value
    return totals
