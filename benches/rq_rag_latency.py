"""What RQ-RAG's tree takes, level by level and call by call as the authors' code makes them, in one process.

    python benches/rq_rag_latency.py [--latency 0.2] [--runs 3] [--depths 2 4]

A model takes `--latency` seconds a call and every path tries all actions (`exploration="forced"`). All calls of a level
are made at the same time, so a run takes depth + 1 rounds; the authors' code makes the same calls one after another, 25
at depth 2 and 241 at depth 4. The medians of wall time over that ideal are printed, and the processor's time with them.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever

from langgraph_evidence import RqRagSettings, create_rq_rag

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

CALLS = {
    depth: sum(3**level for level in range(1, depth + 1)) + sum(3**level for level in range(depth + 1))
    for depth in range(17)
}


class Slow(BaseChatModel):
    """Replies the same after some time.

    Args:
        latency: Seconds a call.
    """

    latency: float

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:  # noqa: ARG002 - LangChain's
        await asyncio.sleep(self.latency)
        rows = [{"token": "Allahabad", "logprob": -0.5, "top_logprobs": [{"token": "Allahabad", "logprob": -0.5}]}]
        about = {"finish_reason": "stop", "logprobs": {"content": rows}}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Allahabad", response_metadata=about))])


class Known(BaseRetriever):
    """Gives the same three passages at once."""

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:  # noqa: ARG002 - as above
        return [Document(f"Passage {n} of Allahabad.", id=str(n), metadata={"title": "Allahabad"}) for n in range(3)]

    async def _aget_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return self._get_relevant_documents(query)


async def timed(latency: float, depth: int, at_once: int) -> tuple[float, float]:
    """Seconds of wall and of processor for one run."""
    settings = RqRagSettings(
        exploration="forced", depth=depth, policy="trained", citations="lexical", unseen=False, select="ensemble"
    )
    graph = create_rq_rag(Slow(latency=latency), Known(), settings=settings, max_concurrency=at_once).compile()
    wall, worked = time.perf_counter(), time.process_time()
    output = await graph.ainvoke({"question": "Where was Dhyan Chand born?"})
    spent = time.perf_counter() - wall, time.process_time() - worked
    assert output["usage"]["calls"] == CALLS[depth], output["usage"]  # noqa: S101 - another tree has another ideal
    return spent


def main() -> None:
    """Times both ways and prints the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 4])
    options = parser.parse_args()
    print(f"{options.latency * 1000:.0f} ms a call, all actions tried, {options.runs} runs: wall / ideal")
    for depth in options.depths:
        for name, at_once, rounds in (("level by level", 256, depth + 1), ("call by call", 1, CALLS[depth])):
            runs = [
                asyncio.run(timed(options.latency, depth, at_once)) for _ in range(options.runs if rounds < 9 else 1)
            ]
            wall, worked = (statistics.median(column) for column in zip(*runs, strict=True))
            ideal = rounds * options.latency
            print(
                f"depth {depth}, {name:14} {wall / ideal:.3f}  {wall:.2f} s of {ideal:.1f} s ({rounds} rounds),"
                f" {worked:.2f} s of processor"
            )


if __name__ == "__main__":
    main()
