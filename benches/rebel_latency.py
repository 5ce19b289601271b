"""What REBEL's graph adds to its critical path: a tree of 3 x 3 independent sub-questions, in one process.

    python benches/rebel_latency.py [--latency 0.2] [--runs 3]

A scripted model and a tool take `--latency` seconds a call. All nine leaves are worked on at the same time, so a run
takes its critical path: two splits, one leaf that is recalled, given an input, looked up and answered, and two
questions above it that are recalled and answered. The medians of wall time over that path are printed, for the
parallel run and, over all calls, for the ordered one.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from typing import TYPE_CHECKING, Any

from langchain_core.tools import StructuredTool

from langgraph_evidence import RebelSettings, create_rebel
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph_evidence.llm.prompt import PromptCall

PATH = 2 + 4 + 2 * 2
EVERY = (1 + 3) + 9 * 4 + (3 + 1) * 2


def split(call: PromptCall, _seed: int) -> str:
    """The root and its three parts in three."""
    return "\n".join(f"{n}. {call.values['question'].rstrip('?')} part {n}?" for n in (1, 2, 3))


RULES = [
    (Asks("rebel.split"), split),
    (Asks("rebel.recall", lambda call: call.values["question"].count("part") == 2), "no"),
    (Asks("rebel.recall"), "yes"),
    (Asks("rebel.tool_input"), '{"query": "x"}'),
    (Asks("rebel.answer*"), "an answer"),
]


def main() -> None:
    """Times both ways and prints the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()

    async def look_up(query: str) -> str:
        await asyncio.sleep(options.latency)
        return query

    def look_up_now(query: str) -> str:
        time.sleep(options.latency)
        return query

    model = ScriptedChat(rules=RULES, latency=options.latency)
    tool = StructuredTool.from_function(look_up_now, look_up, name="lookup", description="Looks up.")
    graphs = {
        parallel: create_rebel(
            model, [tool], settings=RebelSettings(depth=2, near=1.0, parallel=parallel, reuse=False)
        ).compile()
        for parallel in (True, False)
    }
    asked: Any = {"question": "Whole?"}
    config: Any = {"max_concurrency": 16}
    ways: dict[str, tuple[Callable[[], Any], int]] = {
        "parallel, ainvoke": (lambda: asyncio.run(graphs[True].ainvoke(asked)), PATH),
        "parallel, invoke": (lambda: graphs[True].invoke(asked, config), PATH),
        "ordered, invoke": (lambda: graphs[False].invoke(asked), EVERY),
    }
    print(f"{options.latency * 1000:.0f} ms a call, 3 x 3 leaves, {options.runs} runs: wall / ideal")
    for name, (way, steps) in ways.items():
        ratios = []
        for _ in range(options.runs):
            started = time.perf_counter()
            out = way()
            ratios.append((time.perf_counter() - started) / (steps * options.latency))
            assert len(out["tree"]) == 13, out["tree"]  # noqa: S101 - another tree would have another ideal
        median = statistics.median(ratios)
        print(f"{name:18} median {median:.3f}  ideal {steps * options.latency:.1f} s ({steps} calls)")


if __name__ == "__main__":
    main()
