"""The drafts of every data set: which rows of which file say by themselves how their question is searched for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.training.base import FILES
from langgraph_evidence.training.rq_rag.drafts import Draft, Hop, decomposed_hops, multihop_draft
from langgraph_evidence.training.rq_rag.queries import carrying
from langgraph_evidence.training.rq_rag.records import fold_of
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from langgraph_evidence.training.base import DataFolder, Row
    from langgraph_evidence.training.rq_rag.corpus import Corpus

_BREAK = "questions/break_qdmr_highlevel_dev.jsonl"
_MORE = {"HotpotQA": ("multihop/hotpotqa_more.jsonl",), "2Wiki": ("multihop/2wiki_dev_more.jsonl",)}
_OPEN, _ASQA = "multihop/musique_dev_open.jsonl", "attribution/asqa_dev_500.jsonl"
_NQ = "reading/nq_open_oracle_dev.jsonl"
_POPQA, _OBQA = "singlehop/popqa_1000_with_gold.jsonl", "singlehop/openbookqa_train.jsonl"
_ARC = "singlehop/arc_challenge_train.jsonl"
_NO_CONTEXT = "No context provided"
# As many as MuSiQue's own questions have, so that a search is as hard.
_POOL = 20


def multihop(data: DataFolder, _corpus: Corpus, dataset: str) -> Iterator[Draft]:
    """HotpotQA, 2Wiki and MuSiQue with their own paragraphs."""
    known = data.rows(_BREAK) if data.find(_BREAK) else []
    steps = {row["orig_id"]: row["steps"] for row in known}
    for file, row in _rows(data, *FILES[dataset], *_MORE.get(dataset, ())):
        draft = multihop_draft(dataset, file, row, steps.get(row["id"], ()))
        if draft is not None:
            yield draft


def open_musique(data: DataFolder, corpus: Corpus, dataset: str) -> Iterator[Draft]:
    """MuSiQue's questions without paragraphs: their gold ones, among what the corpus has on their sub-questions."""
    for file, row in _rows(data, _OPEN):
        places = [hop.get("gold_pid") for hop in row["decomposition"]]
        if row.get("has_full_context") or any(p is None or p >= len(corpus.passages) for p in places):
            continue
        gold = list(dict.fromkeys(places))
        hops = decomposed_hops([hop | {"support_idx": gold.index(hop["gold_pid"])} for hop in row["decomposition"]], ())
        queries = [row["question"], *(hop.queries[0] for hop in hops)]
        passages = corpus.around([corpus.passages[place] for place in gold], queries, count=_POOL)
        answers = (row["answer"], *row["answer_aliases"])
        yield Draft(
            dataset=dataset, file=file, row=str(row["id"]), fold=row["fold"], question=row["question"],
            answers=answers, passages=passages, gold=frozenset(range(len(gold))), hops=hops,
        )  # fmt: skip


def asqa(data: DataFolder, corpus: Corpus, dataset: str) -> Iterator[Draft]:
    """ASQA: an ambiguous question, the questions that it may mean, and a long answer to all of them."""
    for file, row in _rows(data, _ASQA):
        pairs = [pair for pair in row["qa_pairs"] if pair["context"] and pair["context"] != _NO_CONTEXT]
        if len(pairs) < 2 or len(pairs) < len(row["qa_pairs"]):
            continue
        texts = {pair["context"]: str(pair["wikipage"] or "") for pair in pairs}
        own = [Passage(id=f"own:{place}", title=title, text=text) for place, (text, title) in enumerate(texts.items())]
        place = {text: number for number, text in enumerate(texts)}
        hops = tuple(Hop((pair["question"],), frozenset({place[pair["context"]]})) for pair in pairs)
        passages = corpus.around(own, [pair["question"] for pair in pairs], count=_POOL)
        answers = tuple(note["long_answer"] for note in row["annotations"])
        yield Draft(
            dataset=dataset, file=file, row=str(row["id"]), fold=row["fold"], question=row["question"],
            answers=answers, passages=passages, gold=frozenset(range(len(own))), hops=hops, action="disambiguate",
        )  # fmt: skip


def natural_questions(data: DataFolder, corpus: Corpus, dataset: str) -> Iterator[Draft]:
    """Natural Questions: one passage; the question is rewritten as its words that carry meaning."""
    for file, row in _rows(data, _NQ):
        own = [Passage(id="own:0", title=row["title"] or "", text=row["context"])]
        passages = corpus.around(own, [row["question"]], count=_POOL)
        yield _single(dataset, file, row, answers=tuple(row["answers"]), passages=passages)


def popqa(data: DataFolder, corpus: Corpus, dataset: str) -> Iterator[Draft]:
    """PopQA: the subject and the property that a question was written from."""
    for file, row in _rows(data, _POPQA):
        first = [p for p in row["paragraphs"] if p["is_supporting"] and row["subj"].lower() in p["title"].lower()][:1]
        own = [Passage(id="own:0", title=p["title"], text=p["text"]) for p in first]
        if own:
            answers, query = tuple(row["answers"]), f"{row['subj']} {row['prop']}"
            passages = corpus.around(own, [row["question"]], count=_POOL)
            yield _single(dataset, file, row, answers=answers, passages=passages, query=query)


def openbookqa(data: DataFolder, _corpus: Corpus, dataset: str) -> Iterator[Draft]:
    """OpenBookQA: a question with its choices; its book of facts is what is searched."""
    found = list(_rows(data, _OBQA))
    place = {fact: number for number, fact in enumerate(dict.fromkeys(row["fact"] for _, row in found))}
    book = [Passage(id=f"fact:{number}", title="", text=fact) for fact, number in place.items()]
    retriever = BM25Retriever(passages=book) if book else None
    for file, row in found:
        how = {"gold": {place[row["fact"]]}, "passages": book, "retriever": retriever}
        yield _with_choices(_single(dataset, file, row, answers=(row["answer"],), **how), row)


def arc(data: DataFolder, _corpus: Corpus, dataset: str) -> Iterator[Draft]:
    """ARC: a question with its choices, answered at once, for no passage of it is known."""
    for file, row in _rows(data, _ARC):
        yield _with_choices(_single(dataset, file, row, answers=(row["answer"],), passages=(), gold=()), row)


SOURCES: dict[str, tuple[Callable[[DataFolder, Corpus, str], Iterator[Draft]], ...]] = {
    "HotpotQA": (multihop,),
    "2Wiki": (multihop,),
    "MuSiQue": (multihop, open_musique),
    "ASQA": (asqa,),
    "NQ": (natural_questions,),
    "PopQA": (popqa,),
    "OpenBookQA": (openbookqa,),
    "ARC": (arc,),
}
"""What reads each data set; a file that a folder lacks has no rows."""


def _rows(data: DataFolder, *names: str) -> Iterator[tuple[str, Row]]:
    for name in names:
        if data.find(name):
            yield from ((name, row) for row in data.rows(name))


def _single(dataset: str, file: str, row: Row, **how: Any) -> Draft:
    """A question of one search; `query` is its best wording, where the data set has one."""
    question = " ".join(row["question"].split())
    queries = tuple(dict.fromkeys(text for text in (how.pop("query", ""), carrying(question), question) if text))
    found = frozenset(how.pop("gold", {0}))
    fold = row["fold"] if "fold" in row else fold_of(question)
    hops = (Hop(queries, found),) if found else ()
    return Draft(
        dataset=dataset, file=file, row=str(row["id"]), fold=fold, question=question, gold=found, hops=hops,
        action="rewrite", **how,
    )  # fmt: skip


def _with_choices(draft: Draft, row: Row) -> Draft:
    """The question as it is asked: its choices stand behind it, by their letters, and a letter is the answer."""
    choices = " ".join(f"{letter}: {text}" for letter, text in row["choices"].items())
    return replace(draft, question=f"{draft.question} {choices}")
