"""Checkpoints are read back strictly in every end-to-end test."""

import pytest


@pytest.fixture(autouse=True)
def _strict_checkpoints(monkeypatch):
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
