"""Reads one row of a question file, whatever its data set, and says what is wrong with a broken one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langgraph_evidence.evaluation.question import GoldStep, Question
from langgraph_evidence.retrieval.formats import BrokenRowError, records_of
from langgraph_evidence.types import Passage, content_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from langgraph_evidence.evaluation.answers import SupportingFact

T = TypeVar("T")
Row = dict[str, Any]


def question_from_row(row: object, aliases: Mapping[str, tuple[str, ...]]) -> Question | None:
    """Reads a row of any known shape; an unanswerable MuSiQue row, which its scorer leaves out as well, is None.

    Args:
        row: The parsed row.
        aliases: Other names of an answer by its `answer_id` (2WikiMultihopQA).

    Raises:
        BrokenRowError: With the reason.
    """
    if not isinstance(row, dict):
        raise BrokenRowError(f"expected a JSON object, found {type(row).__name__}")
    if row.get("answerable") is False:
        return None
    facts = tuple(_fact(fact) for fact in _optional(row, "supporting_facts", list) or [])
    own = _own_paragraphs(row)
    gold = _gold_ids(row, own, facts)
    hops = _optional(row, "hops", int)
    return Question(
        id=_text(row, "id" if "id" in row else "_id"),
        question=_text(row, "question"),
        answers=_answers(row, aliases),
        dataset=_dataset(row),
        kind=_kind(row),
        hops=len(gold) if hops is None else hops,
        passages=own.passages,
        gold_passages=gold,
        gold_titles=_gold_titles(row, own, gold),
        supporting_facts=facts,
        sentences=own.sentences,
        fold=_optional(row, "fold", int),
        steps=tuple(_steps(row, own)),
    )


def _optional(row: Row, name: str, kind: type[T]) -> T | None:
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise BrokenRowError(f"{name!r} must be {kind.__name__}, not {type(value).__name__}")
    return value


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and name == "id":
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise BrokenRowError(f"{name!r} must be a text that is not empty, not {value!r}")
    return value


def _answers(row: Row, aliases: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if "answers" in row:
        named = _optional(row, "answers", list) or []
    else:
        others = _optional(row, "answer_aliases", list) or _optional(row, "aliases", list) or []
        named = [_text(row, "answer"), *others, *aliases.get(str(row.get("answer_id")), ())]
    if not named or not all(isinstance(answer, str) for answer in named):
        raise BrokenRowError(f"the gold answers must be one or more texts, not {named!r}")
    return tuple(dict.fromkeys(named))


def _dataset(row: Row) -> str:
    named = _optional(row, "dataset", str)
    if named:
        return named
    if "question_decomposition" in row or "paragraphs" in row:
        return "musique"
    return "2wikimultihopqa" if "evidences" in row else "hotpotqa"


def _kind(row: Row) -> str:
    kind = _optional(row, "type", str)
    if kind is not None:
        return kind
    # MuSiQue's type is the first part of its id: 2hop__..., 3hop1__...
    hops, mark, _ = str(row.get("id", "")).partition("__")
    return hops if mark else ""


class _Paragraphs(NamedTuple):
    """A question's own paragraphs: the passages, the id at each position of the row, and sentences by id."""

    passages: tuple[Passage, ...]
    ids: tuple[str, ...]
    sentences: dict[str, tuple[str, ...]]


def _own_paragraphs(row: Row) -> _Paragraphs:
    if "context" not in row and "paragraphs" not in row:
        return _Paragraphs((), (), {})
    records = records_of(row)
    # The ids of a corpus that is built from the same file, so that a shared index finds the same gold passages.
    ids = tuple(content_id(record.title, record.text) for record in records)
    passages = {
        name: Passage(id=name, title=record.title, text=record.text)
        for name, record in zip(ids, records, strict=True)
        if record.text.strip()
    }
    sentences = {name: tuple(r.sentences) for name, r in zip(ids, records, strict=True) if r.sentences}
    return _Paragraphs(tuple(passages.values()), ids, sentences)


def _fact(value: object) -> SupportingFact:
    match value:
        case [str(title), int(index)]:
            return title, index
    raise BrokenRowError(f"a supporting fact is [title, sentence index], not {value!r}")


def _gold_ids(row: Row, own: _Paragraphs, facts: Sequence[SupportingFact]) -> tuple[str, ...]:
    for name in ("gold_pids", "gold_ids"):
        if name in row:
            return tuple(str(number) for number in _optional(row, name, list) or [])
    if "paragraphs" in row and "context" not in row:
        flags = [bool(paragraph.get("is_supporting")) for paragraph in row["paragraphs"]]
        return tuple(dict.fromkeys(own.ids[n] for n, supporting in enumerate(flags) if supporting))
    known = [_at(number, own) for number in _optional(row, "gold_idx", list) or []]
    first = {passage["title"]: passage["id"] for passage in reversed(own.passages)}
    named = {passage["title"] for passage in own.passages if passage["id"] in known}
    others = [first.get(title, f"missing:{title}") for title, _ in facts if title not in named]
    return tuple(dict.fromkeys([*known, *others]))


def _gold_titles(row: Row, own: _Paragraphs, gold: Sequence[str]) -> tuple[str, ...]:
    titles = {passage["id"]: passage["title"] for passage in own.passages}
    named = [titles.get(name, name.removeprefix("missing:")) for name in gold] if own.passages else []
    return tuple(str(title) for title in _optional(row, "gold_titles", list) or named)


def _at(number: object, own: _Paragraphs) -> str:
    if not isinstance(number, int) or not 0 <= number < len(own.ids):
        raise BrokenRowError(f"a gold paragraph is {number!r}; the question has {len(own.ids)} paragraphs, from 0")
    return own.ids[number]


def _steps(row: Row, own: _Paragraphs) -> Iterator[GoldStep]:
    for step in _optional(row, "question_decomposition", list) or _optional(row, "decomposition", list) or []:
        # A decomposition that a language model wrote is no gold.
        if not isinstance(step, dict) or step.get("llm_generated"):
            continue
        places = (step.get(name) for name in ("paragraph_support_idx", "support_idx"))
        place = next((_at(place, own) for place in places if place is not None), None)
        shared = step.get("gold_pid")
        yield GoldStep(_text(step, "question"), _text(step, "answer"), place if shared is None else str(shared))
