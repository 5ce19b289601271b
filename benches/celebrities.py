"""REBEL's tables on 100 questions of each category, with any model and tools, beside the paper's figures.

    python benches/celebrities.py --data ../data --oracle
    python benches/celebrities.py --data ../data [--model openai:gpt-5-mini] [--index INDEX] [--tools DIR] [--count 100]

Without `--index` or `--corpus`, the passages in the data folder are searched. Every outcome is kept under `--runs`, so
that a killed run goes on. FEVER and HotpotQA are asked with search alone, as
in the paper; the offline model's heads have learnt from their folds 0-6, so it is fairly asked with `--fold 7`.
`--oracle` asks a scripted model that knows the gold decompositions instead: it must reach 100%.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_evidence import RebelSettings, create_rebel
from langgraph_evidence.evaluation.celebrities import (
    FEVER,
    HOTPOTQA,
    digest,
    draw,
    load_celebrities,
    load_fever,
    run_table,
)
from langgraph_evidence.evaluation.datasets import load_data
from langgraph_evidence.evaluation.oracle import oracle_model, oracle_tool
from langgraph_evidence.evaluation.outcome import Journal, RunIdentity
from langgraph_evidence.evaluation.runner import graph_answerer
from langgraph_evidence.llm.provider import open_model
from langgraph_evidence.retrieval.sources import open_source
from langgraph_evidence.tools import load_tools, search_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.tools import BaseTool

    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.evaluation.runner import Answerer

PASSAGES = "passages/wiki_passages.jsonl.gz"


def answerers(options: argparse.Namespace, questions: Sequence[Question], *, searching: bool) -> dict[str, Answerer]:
    """The columns of the table: REBEL, REBEL without tools, the model alone."""
    if options.oracle:
        return {"oracle": _answerer(oracle_model(questions), [oracle_tool(questions)], RebelSettings())}
    corpus = None if options.index else options.corpus or options.data / PASSAGES
    search = search_tool(open_source(index=options.index, corpus=corpus))
    own = load_tools(options.tools, environment=os.environ) if options.tools and not searching else []
    model = open_model(options.model)
    return {
        "model alone": _answerer(model, [], RebelSettings(depth=0)),
        "REBEL without tools": _answerer(model, [], RebelSettings()),
        "REBEL": _answerer(model, [search, *own], RebelSettings()),
    }


def _answerer(model: Any, tools: list[BaseTool], settings: RebelSettings) -> Answerer:
    graph = create_rebel(model, tools, settings=settings).compile()
    return graph_answerer(lambda _: graph)


def questions_of(options: argparse.Namespace) -> dict[str, list[Question]]:
    """The rows whose files are there."""
    count, seed = options.count, options.seed
    rows = load_celebrities(options.data / "questions/compositional_celebrities.jsonl.gz", count=count, seed=seed)
    fever, hotpot = (
        options.data / "verify/fever_paper_dev_with_pages.jsonl.gz",
        options.data / "multihop/hotpotqa_dev.jsonl.gz",
    )
    if not options.oracle and fever.exists():
        rows[FEVER] = load_fever(fever, count=count, seed=seed, fold=options.fold)
    if not options.oracle and hotpot.exists():
        rows[HOTPOTQA] = draw(load_data(hotpot, fold=options.fold).questions, count=count, seed=seed)
    return rows


async def table(options: argparse.Namespace) -> str:
    """Runs every row with its tools."""
    parts = []
    rows = questions_of(options)
    for searching in (False, True):
        chosen = {row: found for row, found in rows.items() if (row in {FEVER, HOTPOTQA}) is searching}
        if not chosen:
            continue

        def journal(row: str, method: str, chosen: dict[str, list[Question]] = chosen) -> Journal:
            where = f"{options.index or options.corpus or PASSAGES}, tools {options.tools or 'none'}"
            identity = RunIdentity(
                method=f"rebel table: {method}",
                model="oracle" if options.oracle else options.model,
                data_sha256=digest(chosen[row]),
                version=version("langgraph-evidence"),
                retrieval=where,
            )
            return Journal(options.runs, identity)

        every = [question for found in chosen.values() for question in found]
        done = await run_table(
            chosen,
            answerers(options, every, searching=searching),
            journal=journal,
            concurrency=options.concurrency,
        )
        parts.append(done.markdown())
    return "\n\n".join(parts)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="offline")
    parser.add_argument("--index", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--tools", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fold", type=int, help="draw FEVER and HotpotQA from this fold: 7 with the offline model")
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--oracle", action="store_true")
    print(asyncio.run(table(parser.parse_args())))


if __name__ == "__main__":
    main()
