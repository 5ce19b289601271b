"""What every generation progress reward is: partial answers in, a number each out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence


class GenerationReward(ABC):
    """Rewards a partial answer, higher is better."""

    def reward(self, question: str, answers: Sequence[Sequence[str]]) -> list[float]:
        """R_g of each partial answer, given as its sentences.

        Raises:
            InvalidInput: An answer has no sentence.
            ModelError: A served model failed.
        """
        if not all(answers):
            raise InvalidInput("A partial answer without a sentence has no reward; give at least one sentence.")
        return self._rewards(question, answers)

    @abstractmethod
    def _rewards(self, question: str, answers: Sequence[Sequence[str]]) -> list[float]: ...
