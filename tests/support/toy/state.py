"""What a run carries from node to node, beside what every run has: plain data."""

from __future__ import annotations

from langgraph_evidence.run import RunState


class ToyState(RunState, total=False):
    """The memory of a run."""

    question: str
    query: str
