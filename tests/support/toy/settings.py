"""What a run can be told, each value with its source."""

from __future__ import annotations

from langgraph_evidence.settings import Settings, setting


class ToySettings(Settings):
    """What a toy run can be told."""

    passages: int = setting(default=2, meaning="passages that are read", source="ours", low=1, high=20)
