"""Questions with the hops that lead to their answers, before anything was searched: one draft a row of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_evidence.text import holds, normalise_answer, words
from langgraph_evidence.training.base import passages_of
from langgraph_evidence.training.rq_rag.queries import filled, name_of, part_about, references, rest_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langgraph_evidence.methods.rq_rag.protocol import Refinement
    from langgraph_evidence.retrieval.bm25 import BM25Retriever
    from langgraph_evidence.training.base import Row
    from langgraph_evidence.types import Passage

_PAIR = 2


@dataclass(frozen=True)
class Hop:
    """One search that a question needs.

    Args:
        queries: Ways to ask it, the best first; the first that finds a gold passage is taken.
        gold: Positions of the passages that it should find; any of them will do.
    """

    queries: tuple[str, ...]
    gold: frozenset[int]


@dataclass(frozen=True)
class Draft:
    """A question, its hops, and the passages that it is searched in.

    Args:
        dataset: Its data set, as the records name it.
        file: Of the data folder.
        row: The row's id.
        fold: Of the row.
        question: The question.
        answers: What is right; the first is learned.
        passages: Its own passages.
        gold: Positions of all those that its answer needs.
        hops: In their order; none where the question is answered at once.
        action: How its queries are made of the question.
        retriever: Over the passages, where many questions share them; else one is made when it is searched.
    """

    dataset: str
    file: str
    row: str
    fold: int
    question: str
    answers: tuple[str, ...]
    passages: Sequence[Passage]
    gold: frozenset[int]
    hops: tuple[Hop, ...]
    action: Refinement = "decompose"
    retriever: BM25Retriever | None = None


def multihop_draft(dataset: str, file: str, row: Row, steps: Sequence[str] = ()) -> Draft | None:
    """The draft of a multi-hop row; None where its gold passages are not known or nothing says how it is decomposed.

    Args:
        dataset: HotpotQA, 2Wiki or MuSiQue.
        file: Of the row.
        row: With `context`, `gold_idx` and, by data set, `decomposition`, `evidences` or neither.
        steps: Break's decomposition of the question, where there is one.
    """
    passages = passages_of(row)
    gold = [index for index in row["gold_idx"] if index < len(passages)]
    if not gold or row.get("answerable") is False:
        return None
    hops = hops_of(row, passages, gold, steps)
    answers = (row["answer"], *(row.get("answer_aliases") or ()))
    fold, question = row["fold"], " ".join(row["question"].split())
    return (
        Draft(dataset, file, str(row["id"]), fold, question, answers, passages, frozenset(gold), hops) if hops else None
    )


def hops_of(row: Row, passages: Sequence[Passage], gold: Sequence[int], steps: Sequence[str] = ()) -> tuple[Hop, ...]:
    """The hops of a multi-hop row by what it says of them: its own decomposition, triples, or two gold passages."""
    written = [hop for hop in row.get("decomposition") or () if not hop.get("llm_generated")]
    if written:
        return decomposed_hops(written, gold)
    if row.get("evidences"):
        return _triples(row["evidences"], passages, gold)
    if len(gold) == _PAIR:
        return _pair(row, passages, gold, steps)
    return ()


def decomposed_hops(hops: Sequence[Row], gold: Sequence[int]) -> tuple[Hop, ...]:
    """Sub-questions with the answers of earlier ones filled in; without a `support_idx` any gold passage will do."""
    answers = [str(hop["answer"]) for hop in hops]
    found = []
    for number, hop in enumerate(hops):
        place = hop.get("support_idx")
        query = filled(hop["question"], answers[:number])
        found.append(Hop((query,), frozenset(gold if place is None else {place})))
    return tuple(found)


def _triples(triples: Sequence[Sequence[str]], passages: Sequence[Passage], gold: Sequence[int]) -> tuple[Hop, ...]:
    """2WikiMultihopQA: the subject and the relation of each triple."""
    named = {index: name_of(passages[index]["title"]) for index in gold}
    hops = []
    for subject, relation, _ in triples:
        name = name_of(subject)
        own = frozenset(index for index, title in named.items() if _same_name(name, title))
        hops.append(Hop((f"{name} {relation}", name), own or frozenset(gold)))
    return tuple(dict.fromkeys(hops))


def _same_name(one: str, other: str) -> bool:
    first, second = normalise_answer(one), normalise_answer(other)
    return bool(first and second) and (first in second or second in first)


def _pair(row: Row, passages: Sequence[Passage], gold: Sequence[int], steps: Sequence[str]) -> tuple[Hop, ...]:
    """HotpotQA: two gold passages, compared or the second reached by way of the first."""
    question = row["question"]
    if row.get("type") == "comparison" or all(holds(question, name_of(passages[index]["title"])) for index in gold):
        return _compared(question, passages, gold, steps)
    first, second = _in_order(row, passages, gold)
    title = name_of(passages[second]["title"])
    opening = part_about(question, f"{passages[first]['title']} {_facts(row, passages[first])}")
    rest = rest_of(question, opening, title)
    one = [*_referring(steps, of=0, to=()), opening, question]
    two = [*_referring(steps, of=1, to=(title,)), f"{title} {rest}".strip(), title]
    return Hop(_asked(one), frozenset({first})), Hop(_asked(two), frozenset({second}))


def _compared(question: str, passages: Sequence[Passage], gold: Sequence[int], steps: Sequence[str]) -> tuple[Hop, ...]:
    titles = {index: name_of(passages[index]["title"]) for index in gold}
    place = {index: _place(question, title) for index, title in titles.items()}
    asked = rest_of(question, *titles.values())
    free = [filled(step, ()) for step in steps if not references(step)]
    hops = []
    for number, index in enumerate(sorted(gold, key=place.__getitem__)):
        own = free[number] if len(free) == len(gold) else ""
        hops.append(Hop(_asked([own, f"{titles[index]} {asked}".strip(), titles[index]]), frozenset({index})))
    return tuple(hops)


def _place(question: str, title: str) -> int:
    found = question.lower().find(title.lower())
    first = (words(title) or [""])[0]
    return found if found >= 0 else question.lower().find(first) % len(question)


def _in_order(row: Row, passages: Sequence[Passage], gold: Sequence[int]) -> tuple[int, int]:
    """The passage that the question leads to, then the one that it leads to: the second is named in the first."""

    def credit(first: int, second: int) -> int:
        title, answer = name_of(passages[second]["title"]), row["answer"]
        return (
            2 * holds(passages[first]["text"], title)
            - 2 * holds(row["question"], title)
            + holds(row["question"], name_of(passages[first]["title"]))
            + holds(passages[second]["text"], answer)
            - holds(passages[first]["text"], answer)
        )

    one, other = gold
    return (one, other) if credit(one, other) >= credit(other, one) else (other, one)


def _facts(row: Row, passage: Passage) -> str:
    """The supporting sentences of a passage, all of it where they are not known."""
    context: Mapping[str, Sequence[str]] = {title: text for title, text in row["context"] if not isinstance(text, str)}
    sentences = context.get(passage["title"], ())
    places = [place for title, place in row.get("supporting_facts") or () if title == passage["title"]]
    known = [sentences[place] for place in places if row.get("sentence_split") and place < len(sentences)]
    return " ".join(known) or passage["text"]


def _referring(steps: Sequence[str], *, of: int, to: Sequence[str]) -> list[str]:
    """Break's step of that number, where the question has two steps and the second refers to the first."""
    if len(steps) != _PAIR or references(steps[0]) or references(steps[1]) != {1}:
        return []
    return [filled(steps[of], to)]


def _asked(queries: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(query for query in queries if query))
