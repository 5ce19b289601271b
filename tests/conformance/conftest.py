"""Every test of this folder runs for every method of the registry, and for the toy."""

from __future__ import annotations

import pytest
from cases import CASES, TOY, Case

from langgraph_evidence import methods


@pytest.fixture(params=[*methods.method_names(), TOY.name])
def case(request: pytest.FixtureRequest) -> Case:
    """The method in its small world; one without a case has none of these properties proven."""
    return CASES[request.param]()


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry that holds the toy too, for this test alone."""
    monkeypatch.setattr(methods, "_LOADERS", dict(methods._LOADERS))
    methods.register(TOY)
