"""The command line, `evidence`."""

from __future__ import annotations

from langgraph_evidence.cli.app import app, main

__all__ = ["app", "main"]
