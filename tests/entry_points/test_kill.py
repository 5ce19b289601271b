"""`evidence ask --thread --db`, killed at any moment and started again, repeats no finished call to the model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from langgraph_evidence.llm.loopback import ScriptedServer, serve
from langgraph_evidence.llm.testing import ScriptedChat

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = "Where was the director of film The Alster Case born?"
SAMPLES = 2
LATENCY = 0.15
CALLS = 3 * SAMPLES
# A reply that was sent is finished once the client has written it down, which takes it a moment.
GRACE = 0.1
RULES = [
    ("Frederick, Maryland", "[Analysis] Haydon directed it.\n[Answer] Frederick, Maryland"),
    ("Haydon", "[Analysis] Haydon directed it.\n[Search] Where was J. Charles Haydon born?"),
    ("", "[Search] The Alster Case film director"),
]


def start(server: ScriptedServer, db: Path) -> subprocess.Popen[str]:
    words = ["ask", QUESTION, "--model", "openai:scripted", "--thread", "t", "--db", str(db), "--json"]
    # With a seed every call has a body of its own, so that a repeated one shows.
    # Quotes by words: the trained models would only take time here.
    words += ["--set", f"samples={SAMPLES}", "--set", "seed=1", "--set", "citations=lexical"]
    environment = {**os.environ, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", "from langgraph_evidence.cli import main; main()", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(server: ScriptedServer, before: float) -> Counter[str]:
    """The calls that were answered so long before a moment that the client had them."""
    pairs = zip(server.arrivals, server.chat.calls, strict=False)
    return Counter(body_of(arrival) for arrival, call in pairs if call["ended"] and call["ended"] < before - GRACE)


def body_of(arrival: dict[str, Any]) -> str:
    return json.dumps(arrival["body"], sort_keys=True)


def wait_for_calls(server: ScriptedServer, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while len(server.arrivals) < count and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("calls", "then"),
    [
        (1, 0.0),  # while the first call is under way
        (SAMPLES, LATENCY + 0.02),  # as the first round's replies come in
        (SAMPLES, LATENCY + 0.15),  # when they are written down
        (SAMPLES + 1, 0.0),  # in the second round
        (CALLS, LATENCY + 0.05),  # as the last replies come in
    ],
)
def test_no_finished_call_is_repeated(calls: int, then: float, tmp_path: Path) -> None:
    db = tmp_path / "threads.sqlite"
    with serve(ScriptedChat(rules=RULES, latency=LATENCY)) as server:
        first = start(server, db)
        wait_for_calls(server, calls, first)
        time.sleep(then)
        first.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        first.communicate()
        done = finished(server, killed)
        before = len(server.arrivals)
        second = start(server, db)
        out, err = second.communicate(timeout=120)
        assert second.returncode == 0, err
        assert json.loads(out)["answer"] == "Frederick, Maryland"
        repeated = [arrival for arrival in server.arrivals[before:] if body_of(arrival) in done]
        assert repeated == []
        assert len(server.arrivals) <= CALLS + (before - sum(done.values()))


def test_killed_again_and_again_it_still_ends(tmp_path: Path) -> None:
    db = tmp_path / "threads.sqlite"
    with serve(ScriptedChat(rules=RULES, latency=LATENCY)) as server:
        for _ in range(3):
            process = start(server, db)
            wait_for_calls(server, len(server.arrivals) + SAMPLES, process)
            time.sleep(LATENCY + 2 * GRACE)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        last = start(server, db)
        out, err = last.communicate(timeout=120)
        assert last.returncode == 0, err
        assert json.loads(out)["answer"] == "Frederick, Maryland"
        assert max(Counter(body_of(arrival) for arrival in server.arrivals).values()) <= 2
