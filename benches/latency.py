"""What FuRePA's graph adds to its model calls: a run's wall time over (rounds x latency + retrieval), in one process.

    python benches/latency.py [--latency 0.2] [--runs 5]

A scripted model takes `--latency` seconds a call; five samples of a round run at the same time, so a run should take
one latency a round. Sync (`invoke`), async (`ainvoke`) and a stored run (`invoke` with an in-memory checkpointer) are
timed in turn, and the medians of the ratios are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.memory import InMemorySaver

from langgraph_evidence import FurepaSettings, create_furepa, retriever_for
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.models.query_scorer import SimilarityScorer
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph_evidence.llm.prompt import PromptCall

PASSAGES = [
    Passage(id=f"p{i}", title=f"Title {i}", text=f"Topic {i} follows topic {i - 1} and leads to topic {i + 1}.")
    for i in range(20)
]


class NoScorer(SimilarityScorer):
    """Scores nothing, so that no encoder is timed."""

    def __init__(self) -> None:
        """Needs no encoder."""

    def score(self, queries: Any, passages: Any) -> list[list[float]]:
        """All the same."""
        return [[0.0] * len(passages) for _ in queries]


def reply(call: PromptCall, _seed: int) -> str:
    """Searches for the next topic, and answers once five passages are there."""
    held = len(call.values.get("context", ()))
    if held >= 5:
        return "[Analysis] done\n[Answer] topic 5"
    # Six words that no earlier query has, or the filter would drop it.
    return f"[Analysis] next\n[Search] {held}th topic of " + " ".join(f"series{held}{part}" for part in range(5))


def main() -> None:
    """Times the three ways in turn and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    model = ScriptedChat(rules=[(Asks("furepa.*"), reply)], latency=options.latency)
    retriever = retriever_for(PASSAGES, k=4)
    builder = create_furepa(model, retriever, settings=FurepaSettings(iterations=8), query_scorer=NoScorer())
    plain, stored = builder.compile(), builder.compile(checkpointer=InMemorySaver())
    question: Any = {"question": "Which topic is fifth?"}
    ways: dict[str, Callable[[int], dict[str, Any]]] = {
        "invoke": lambda _: plain.invoke(question),
        "ainvoke": lambda _: asyncio.run(plain.ainvoke(question)),
        "invoke, stored": lambda run: stored.invoke(question, {"configurable": {"thread_id": str(run)}}),
    }
    ratios: dict[str, list[float]] = {name: [] for name in ways}
    for run in range(-1, options.runs):
        for name, way in ways.items():
            started = time.perf_counter()
            out = way(run)
            wall = time.perf_counter() - started
            assert out["stopped"] == "answered", out["stopped"]  # noqa: S101 - a forced answer would be one more round
            rounds = 1 + max(plan["iteration"] for plan in out["plans"].values())
            searching = time.perf_counter()
            for step in out["steps"]:
                retriever.invoke(step["query"])
            ideal = rounds * options.latency + (time.perf_counter() - searching)
            if run >= 0:
                ratios[name].append(wall / ideal)
    print(f"{options.latency * 1000:.0f} ms a call, n = 5, {rounds} rounds, {options.runs} runs: wall / ideal")
    for name, values in ratios.items():
        print(f"{name:16} median {statistics.median(values):.3f}  min {min(values):.3f}  max {max(values):.3f}")


if __name__ == "__main__":
    main()
