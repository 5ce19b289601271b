"""Training queries of FuRePA's query scorer: what a graph would ask at a question, ranked over the question's passages.

Queries are hop sub-questions (MuSiQue), decompositions (Break, joined by HotpotQA id), triples' subject and relation
(2WikiMultihopQA), a name of right or wrong evidence with the rest of the question, parts and variants of the question,
and vague queries that find nothing.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.training.base import FILES, full_ranking, passages_of
from langgraph_evidence.types import Passage, passage_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from langgraph_evidence.training.base import DataFolder

_BREAK = "questions/break_qdmr_highlevel_dev.jsonl"
_VAGUE = ("What is it?", "more information", "the person", "when did this happen", "name of the place", "related facts")
_NAME = re.compile(r"\b[A-Z0-9][\w'-]*(?: (?:(?:of|the|de|and) )*[A-Z0-9][\w'-]*)+|(?<=[a-z,] )[A-Z]\w+")
_REFERENCE = re.compile(r"#(\d+)")

Row = dict[str, Any]


@dataclass(frozen=True)
class Pool:
    """A question with its passages, as `Title: text`, and candidate queries with the rank of the first gold passage.

    Args:
        source: The data set.
        question: The question.
        passages: Those that can still be found: all, or in the middle of a run those not held.
        gold: Indexes of the gold ones.
        queries: Candidate queries; the question itself, where it is one, first.
        rankings: For each query, the passages' indexes as BM25 ranks them; those without a shared term come last.
    """

    source: str
    question: str
    passages: tuple[str, ...]
    gold: frozenset[int]
    queries: tuple[str, ...]
    rankings: tuple[tuple[int, ...], ...]

    def gold_rank(self, query: int) -> int:
        """Rank, from 1, of the first gold passage for a query (g of the paper)."""
        return 1 + next(rank for rank, index in enumerate(self.rankings[query]) if index in self.gold)

    def labels(self, query: int) -> list[float]:
        """1 for the passages ranked up to the first gold one, 0 for the others, in the passages' order."""
        positive = frozenset(self.rankings[query][: self.gold_rank(query)])
        return [float(index in positive) for index in range(len(self.passages))]


def read_pools(data: DataFolder, folds: Iterable[int], *, seed: int = 0, queries: int = 10) -> list[Pool]:
    """Pools of all questions of the folds.

    Args:
        data: The folder; its file hashes are kept there.
        folds: Which folds.
        seed: Of the queries' choice.
        queries: Candidates a question, at most.
    """
    kept = frozenset(folds)
    steps = {row["orig_id"]: row["steps"] for row in data.rows(_BREAK, kept)}
    pools = []
    for source, files in FILES.items():
        for row in [row for name in files for row in data.rows(name, kept)]:
            pool = _pool(source, row, steps.get(row["id"], ()), random.Random(f"{seed} {row['id']}"), limit=queries)
            if pool is not None:
                pools.append(pool)
    return pools


def _pool(source: str, row: Row, steps: Sequence[str], rng: random.Random, *, limit: int) -> Pool | None:
    passages = passages_of(row)
    gold = frozenset(index for index in row["gold_idx"] if index < len(passages))
    if not gold or len(gold) == len(passages):
        return None
    asked = list(dict.fromkeys(query for query in _queries(row, passages, steps, rng) if query.strip()))
    others = [query for query in asked if query != row["question"]]
    chosen = [row["question"], *rng.sample(others, min(len(others), limit - 1))]
    retriever = BM25Retriever(passages=passages)
    rankings = tuple(full_ranking(retriever, query) for query in chosen)
    return Pool(source, row["question"], tuple(map(passage_line, passages)), gold, tuple(chosen), rankings)


def _queries(row: Row, passages: Sequence[Passage], steps: Sequence[str], rng: random.Random) -> Iterator[str]:
    yield from _hops(row)
    yield from (_REFERENCE.sub("", step.removeprefix("return ")).strip() for step in steps)
    yield from (f"{subject} {relation}" for subject, relation, _ in row.get("evidences") or ())
    gold = [passages[index] for index in row["gold_idx"] if index < len(passages)]
    for evidence in (rng.choice(gold), rng.choice(passages)):
        yield from _bridges(row["question"], evidence, rng)
    yield from _variants(row["question"], [passage["title"] for passage in passages], rng)


def _bridges(question: str, evidence: Passage, rng: random.Random) -> Iterator[str]:
    found = list(dict.fromkeys(_NAME.findall(evidence["text"])))
    rest = " ".join(_NAME.sub("", question).rstrip("?").split())
    for name in [evidence["title"], *rng.sample(found, min(len(found), 2))]:
        yield name
        yield f"{name} {rest}"


def _hops(row: Row) -> Iterator[str]:
    hops = [hop for hop in row.get("decomposition") or () if not hop.get("llm_generated")]
    for hop in hops:
        text = hop["question"].replace(">>", " ")
        yield " ".join(_REFERENCE.sub(lambda found: _answer(hops, int(found[1])), text).split())
        if _REFERENCE.search(text):
            yield " ".join(_REFERENCE.sub("", text).split())


def _answer(hops: Sequence[Row], number: int) -> str:
    return str(hops[number - 1]["answer"]) if 0 < number <= len(hops) else ""


def _variants(question: str, titles: Sequence[str], rng: random.Random) -> Iterator[str]:
    names, words = _NAME.findall(question)[:3], question.rstrip("?").split()
    for name in names:
        yield name
        yield question.replace(name, "")
        yield question.replace(name, rng.choice(titles))
    yield " ".join(words[: len(words) // 2])
    yield " ".join(words[len(words) // 2 :])
    yield " ".join(rng.sample(words, min(4, len(words))))
    yield f"{rng.choice(titles)} {' '.join(words[-3:])}"
    yield from rng.sample(_VAGUE, 2)
