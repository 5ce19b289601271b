"""One load a process: many threads at once, a load that fails, packages that are not there, torch itself."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from langgraph_evidence.errors import MissingExtra, ResourceError
from langgraph_evidence.models import default_encoder, default_entailment, default_query_scorer, default_reader, once

FIRST_USE = """
import sys, threading
from langgraph_evidence import models
assert "torch" not in sys.modules
loaders = [models.default_encoder, models.default_reader, models.default_query_scorer, models.default_entailment] * 2
start, found = threading.Barrier(len(loaders)), []
def use(load):
    start.wait()
    found.append((load.__name__, id(load())))
threads = [threading.Thread(target=use, args=(load,)) for load in loaders]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(found) == len(loaders) and len(set(found)) == len(loaders) // 2, found
"""


def together(*calls: Any) -> list[Any]:
    """What each call gives, all of them started at once."""
    start = threading.Barrier(len(calls))
    found: list[Any] = [None] * len(calls)

    def run(place: int) -> None:
        start.wait()
        found[place] = calls[place]()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    return found


def test_many_threads_load_once() -> None:
    loads = []

    @once
    def model() -> object:
        time.sleep(0.05)
        loads.append(threading.get_ident())
        return object()

    found = together(*[model] * 8)
    assert len(loads) == 1
    assert {id(one) for one in found} == {id(model())}


def test_two_models_never_load_at_the_same_time() -> None:
    inside, most = 0, 0

    def slow() -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.05)
        inside -= 1
        return most

    assert together(once(slow), once(slow), once(slow)) == [1, 1, 1]


def test_a_model_may_stand_on_another() -> None:
    base = once(lambda: "base")
    assert together(once(lambda: f"a head on the {base()}"), base) == ["a head on the base", "base"]


def test_a_load_that_fails_is_tried_again() -> None:
    tries = []

    @once
    def model() -> str:
        tries.append(1)
        if len(tries) < 2:
            raise ResourceError("The weights are missing.")
        return "loaded"

    with pytest.raises(ResourceError):
        model()
    assert [model(), model()] == ["loaded"] * 2
    assert len(tries) == 2


def test_a_package_that_is_not_there_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)

    @once
    def model() -> Any:
        import transformers

        return transformers

    with pytest.raises(MissingExtra, match=r"need transformers: pip install 'langgraph-evidence\[local\]'"):
        model()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="need torch"):
        once(lambda: 1)()


def test_every_default_is_the_same_one_for_all() -> None:
    for load in (default_encoder, default_reader, default_query_scorer, default_entailment):
        first: Any = load()
        assert all(found is first for found in together(*[load] * 4))


def test_threads_may_be_the_first_to_need_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FIRST_USE], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
