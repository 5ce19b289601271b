"""A stored run that broke off before any of its checkpoints goes on and gives the same answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_evidence import FurepaSettings, create_furepa, retriever_for
from langgraph_evidence.cli.options import Thread
from langgraph_evidence.cli.running import run_on_thread
from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods import get_method
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from pathlib import Path

PASSAGES = [Passage(id="a", title="Emma", text="Emma is a novel by Jane Austen.")]
RULES = [
    ("Jane Austen", "[Analysis] Found.\n[Answer] Jane Austen"),
    ("", "[Search] Emma novel author"),
]


class BrokenOffError(Exception):
    """Stands for a kill."""


def asked(db: Path, model: Any) -> dict[str, Any]:
    builder = create_furepa(model, retriever_for(PASSAGES), settings=FurepaSettings(samples=2))
    given = {"question": "Who wrote Emma?"}
    return run_on_thread(builder, given, Screen(steps=False), method=get_method("furepa"), store=Thread("t", db, None))


def test_broken_off_before_any_checkpoint_it_goes_on_to_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, put = ScriptedChat(rules=RULES), SqliteSaver.put
    stored = 0

    def counted(self: Any, *args: Any, **how: Any) -> Any:
        nonlocal stored
        stored += 1
        if stored == breaks_at:
            raise BrokenOffError
        return put(self, *args, **how)

    breaks_at = 0
    monkeypatch.setattr(SqliteSaver, "put", counted)
    assert asked(tmp_path / "whole", whole)["answer"] == "Jane Austen"
    checkpoints = stored
    assert checkpoints > 5
    for place in range(2, checkpoints + 1):  # nothing at all is stored before the first
        model, db, breaks_at, stored = ScriptedChat(rules=RULES), tmp_path / str(place), place, 0
        with pytest.raises(BrokenOffError):
            asked(db, model)
        breaks_at = 0
        assert asked(db, model)["answer"] == "Jane Austen", place
        assert len(model.calls) == len(whole.calls), place
