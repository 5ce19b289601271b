"""From drafts to records: every hop is searched as inference will search it, and what lacks its support is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.methods.rq_rag.protocol import neutralised
from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.text import holds
from langgraph_evidence.training.rq_rag.queries import names_only
from langgraph_evidence.training.rq_rag.records import Record, Step, made_record, shown
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from langgraph_evidence.methods.rq_rag.protocol import Refinement
    from langgraph_evidence.training.rq_rag.drafts import Draft, Hop
    from langgraph_evidence.training.rq_rag.options import Form, MakeOptions

NO_SUPPORT = "a supporting passage was not found"
UNKNOWABLE = "a query needs a name that nobody could have read"
CUT_OFF = "the answer stands behind the cut of its passage"


class _Search:
    """One draft's passages while they are searched."""

    def __init__(self, draft: Draft, options: MakeOptions) -> None:
        self._draft, self._options = draft, options
        self._retriever = draft.retriever or BM25Retriever(passages=draft.passages)
        self.seen: set[int] = set()
        self._text = draft.question

    def top(self, query: str, count: int | None = None) -> list[int]:
        count = count or self._options.passages
        held = self.seen if self._options.unseen else set()
        places = self._retriever.rank(query, count + len(held)).positions.tolist()
        return [place for place in places if place not in held][:count]

    def knows(self, query: str) -> bool:
        # Which readings a question has stands in no passage: whoever clarifies it knows them.
        return self._draft.action == "disambiguate" or names_only(query, self._text)

    def shown(self, place: int) -> Passage:
        passage = self._draft.passages[place]
        text = neutralised(passage["text"], limit=self._options.passage_chars)
        return Passage(id=passage["id"], title=passage["title"], text=text)

    def show(self, places: Sequence[int]) -> list[Passage]:
        self.seen |= set(places)
        passages = [self.shown(place) for place in places]
        self._text = " ".join([self._text, *(f"{passage['title']} {passage['text']}" for passage in passages)])
        return passages

    def missing(self) -> str:
        """Why the draft is of no use after all its hops; empty where it is."""
        if not self._draft.gold <= self.seen:
            return NO_SUPPORT
        answer, whole = self._draft.answers[0], " ".join(self._draft.passages[place]["text"] for place in self.seen)
        return CUT_OFF if holds(whole, answer) and not holds(self._text, answer) else ""


def refined(draft: Draft, options: MakeOptions, dropped: Counter[str]) -> Record | None:
    """The record of a draft, searched hop by hop; None, and counted, where its support is not found.

    For each hop the first of its queries that finds one of its passages is taken, so long as it names nothing that
    stands neither in the question nor in a passage shown before. A hop whose passages were those of a hop before, or
    whose query brings nothing more, is not asked where passages are shown once.
    """
    if not draft.hops:
        return _record(draft, [], "refined")
    search, steps, asked = _Search(draft, options), list[Step](), set[int]()
    for hop in draft.hops:
        if options.unseen and hop.gold <= asked & search.seen:
            continue
        asked |= hop.gold
        query = _query(hop, search)
        if query is None:
            dropped[UNKNOWABLE] += 1
            return None
        found = search.top(query)
        if found:
            steps.append(Step(action=draft.action, query=query, passages=search.show(found)))
    reason = search.missing()
    if reason:
        dropped[reason] += 1
        return None
    return _record(draft, steps, "refined")


def search_queries(
    draft: Draft, action: Refinement, queries: Sequence[str], options: MakeOptions
) -> tuple[list[Step], bool]:
    """The steps of an annotator's queries, and whether all supporting passages are among what they found."""
    search, steps = _Search(draft, options), list[Step]()
    for query in queries:
        if found := search.top(query):
            steps.append(Step(action=action, query=query, passages=search.show(found)))
    return steps, bool(steps) and draft.gold <= search.seen


def one_shot(draft: Draft, options: MakeOptions, *, passages: int) -> Record:
    """The rival's record of the same row: what the question itself finds, so many passages, read once.

    It is never dropped: whoever does not refine has to live with what the question finds.
    """
    if not passages:
        return _record(draft, [], "one_shot")
    search = _Search(draft, options)
    steps = [Step(action="rewrite", query=draft.question, passages=search.show(search.top(draft.question, passages)))]
    return _record(draft, steps, "one_shot")


def shown_passages(record: Record) -> int:
    """How many different passages a record shows."""
    return len({passage["id"] for passage in shown(record)})


def _query(hop: Hop, search: _Search) -> str | None:
    known = [query for query in hop.queries if search.knows(query)]
    finding = (query for query in known if hop.gold & (search.seen | set(search.top(query))))
    return next(finding, known[0] if known else None)


def _record(draft: Draft, steps: list[Step], form: Form) -> Record:
    return made_record(draft, steps, draft.answers[0], form=form)
