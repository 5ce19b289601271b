"""BM25 over 65,369 passages and over a question's own: time, memory and recall, beside rank_bm25, in one run.

    python benches/retrieval.py --data DIR [--skip-dense]

DIR has `passages/wiki_passages.jsonl.gz` and `multihop/*.jsonl.gz`. Exits with 1 when a bound of the large corpus is
missed: build under 30 s, query p50 under 2 ms, less than 50 MB above the interpreter.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from langgraph_evidence.retrieval import Corpus, CorpusPassage, build_index, open_index, retriever_for
from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.retrieval.formats import records_of
from langgraph_evidence.retrieval.reading import json_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from langgraph_evidence.retrieval.index import PoolKind

SETS = {
    "HotpotQA": ("hotpotqa_train", "hotpotqa_dev"),
    "2Wiki": ("2wiki_train", "2wiki_dev"),
    "MuSiQue": ("musique_train", "musique_dev"),
}
DEPTHS = (2, 3, 5)
FOLD = 7
SMALLEST_POOL = 6  # rows with fewer paragraphs have no distractors
BOUNDS = {"build seconds": 30.0, "query p50 ms": 2.0, "memory MB": 50.0}

# Runs alone in a fresh interpreter, so that nothing else of this process counts.
MEMORY = """
import json, os, sys, psutil
rss = lambda: psutil.Process().memory_info().rss / 2**20
bare = rss()
from langgraph_evidence.retrieval import Corpus, open_index, retriever_for
kind, source, queries = sys.argv[1], sys.argv[2], json.loads(sys.stdin.read())
if kind == "okapi":
    import rank_bm25
retriever_for([{"id": "a", "title": "", "text": "a"}], "okapi" if kind == "okapi" else "bm25").invoke("a")
imported = rss()
retriever = open_index(source) if kind == "bm25" else retriever_for(Corpus.load(source), "okapi")
for query in queries:
    retriever.invoke(query)
print(json.dumps({"bare": bare, "imported": imported, "above": rss() - imported}))
"""


def main() -> int:
    """Prints the three tables and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with passages/ and multihop/")
    parser.add_argument("--skip-dense", action="store_true", help="leave out what needs the encoder")
    options = parser.parse_args()
    questions = {name: list(_questions(options.data / "multihop", files)) for name, files in SETS.items()}
    measured = _large(options.data / "passages" / "wiki_passages.jsonl.gz", questions["HotpotQA"])
    _small([pool for rows in questions.values() for _, pool, _ in rows], questions)
    _recall(questions, dense=not options.skip_dense)
    missed = {name: bound for name, bound in BOUNDS.items() if measured[name] >= bound}
    print("\nbounds: " + (f"MISSED {missed}" if missed else f"all met ({BOUNDS})"))
    return 1 if missed else 0


Question = tuple[str, list[CorpusPassage], set[int]]


def _questions(folder: Path, files: Iterable[str]) -> Iterator[Question]:
    for name in files:
        for _, row in json_lines(folder / f"{name}.jsonl.gz"):
            if not isinstance(row, dict) or row["fold"] != FOLD or len(row["context"]) < SMALLEST_POOL:
                continue
            pool = [
                CorpusPassage(id=str(number), title=record.title, text=record.text)
                for number, record in enumerate(records_of(row))
            ]
            yield row["question"], pool, set(row["gold_idx"])


def _timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def _percentiles(seconds: list[float]) -> str:
    p50, p95 = np.percentile(seconds, [50, 95]) * 1000
    return f"p50 {p50:8.3f} ms   p95 {p95:8.3f} ms"


def _large(path: Path, rows: list[Question]) -> dict[str, float]:
    seconds, corpus = _timed(lambda: Corpus.load(path))
    print(f"large corpus: {len(corpus):,} passages of {path.name}, read in {seconds:.1f} s")
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        build, _ = _timed(lambda: build_index(corpus, index))
        opening, ours = _timed(lambda: open_index(index))
        size = sum(file.stat().st_size for file in index.iterdir()) / 2**20
        okapi_build, okapi = _timed(lambda: retriever_for(corpus, "okapi"))
        queries = [question for question, _, _ in rows]
        times: dict[str, list[float]] = {"ours": [], "rank_bm25": [], "documents": []}
        for number, query in enumerate(queries):
            times["ours"].append(_timed(lambda: ours.rank(query, 10))[0])  # noqa: B023 - called at once
            times["documents"].append(_timed(lambda: ours.invoke(query, k=10))[0])  # noqa: B023 - called at once
            if number % 8 == 0:
                times["rank_bm25"].append(_timed(lambda: okapi.rank(query, 10))[0])  # noqa: B023 - called at once
        memory, okapi_memory = _memory("bm25", index, queries), _memory("okapi", path, queries[:10])
    print(f"  BM25, mapped  build {build:5.1f} s ({size:.0f} MB on disk), open and verify {opening:.2f} s")
    print(f"    ranking     {_percentiles(times['ours'])}   ({len(queries)} questions, top 10)")
    print(f"    documents   {_percentiles(times['documents'])}")
    print(f"    memory      {memory['above']:.0f} MB above the imports ({_imports(memory)})")
    print(f"  rank_bm25     build {okapi_build:5.1f} s")
    print(f"    ranking     {_percentiles(times['rank_bm25'])}   ({len(times['rank_bm25'])} questions)")
    print(f"    memory      {okapi_memory['above']:.0f} MB above the imports ({_imports(okapi_memory)})")
    p50 = float(np.percentile(times["ours"], 50)) * 1000
    return {"build seconds": build, "query p50 ms": p50, "memory MB": memory["above"]}


def _imports(memory: dict[str, float]) -> str:
    return f"python alone {memory['bare']:.0f} MB, with this package and LangChain {memory['imported']:.0f} MB"


def _memory(kind: str, source: Path, queries: list[str]) -> dict[str, float]:
    """Resident memory of a fresh process: bare, after the imports, and what index and queries add to them, in MB."""
    command = [sys.executable, "-c", MEMORY, kind, str(source)]
    done = subprocess.run(command, input=json.dumps(queries), capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _small(pools: list[list[CorpusPassage]], questions: dict[str, list[Question]]) -> None:
    rows = [row for group in questions.values() for row in group]
    print(f"\na question's own {min(map(len, pools))}-{max(map(len, pools))} paragraphs ({len(rows)} questions)")
    kinds: tuple[PoolKind, ...] = ("bm25", "okapi")
    built: dict[str, list[float]] = {kind: [] for kind in kinds}
    asked: dict[str, list[float]] = {kind: [] for kind in kinds}
    for question, pool, _ in rows:
        for kind in kinds:
            seconds, retriever = _timed(lambda: retriever_for(pool, kind))  # noqa: B023 - called at once
            built[kind].append(seconds)
            asked[kind].append(_timed(lambda: retriever.rank(question, 5))[0])  # noqa: B023 - called at once
    for kind in kinds:
        print(f"  {kind:6} index {_percentiles(built[kind])}\n         query {_percentiles(asked[kind])}")


def _recall(questions: dict[str, list[Question]], *, dense: bool) -> None:
    print(f"\nrecall of gold paragraphs among a question's own, fold {FOLD}, % (at {', '.join(map(str, DEPTHS))})")
    print(f"  {'':14}" + "".join(f"{name + f' ({len(rows)})':>20}" for name, rows in questions.items()))
    makers: dict[str, Callable[[list[CorpusPassage]], Any]] = {
        f"bm25 {k1}/{b}": partial(_bm25, k1=k1, b=b) for k1, b in ((0.9, 0.4), (1.2, 0.75))
    }
    makers = {kind: partial(retriever_for, kind=kind) for kind in ("bm25", "okapi")} | makers
    if dense:
        makers |= {kind: partial(retriever_for, kind=kind) for kind in ("dense", "hybrid")}
    for name, make in makers.items():
        cells = [_recalls(rows, make) for rows in questions.values()]
        print(f"  {name:14}" + "".join(f"{' '.join(f'{value:5.1f}' for value in cell):>20}" for cell in cells))


def _bm25(pool: list[CorpusPassage], *, k1: float, b: float) -> BM25Retriever:
    return BM25Retriever(passages=pool, k1=k1, b=b)


def _recalls(rows: list[Question], make: Callable[[list[CorpusPassage]], Any]) -> list[float]:
    found = []
    for question, pool, gold in rows:
        positions = make(pool).rank(question, max(DEPTHS)).positions.tolist()
        found.append([len(gold.intersection(positions[:depth])) / len(gold) for depth in DEPTHS])
    return [float(value) * 100 for value in np.mean(found, axis=0)]


if __name__ == "__main__":
    sys.exit(main())
