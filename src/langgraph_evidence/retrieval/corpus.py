"""A corpus: passages in a fixed order, each with an id of its own; whole passages, blocks of words, or sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NotRequired, cast, get_args, overload

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.retrieval.formats import Format, Record, read_records
from langgraph_evidence.text import language as known_language
from langgraph_evidence.text import split_sentences, tokens
from langgraph_evidence.types import Passage, content_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Unit = Literal["passage", "sentence"]


class CorpusPassage(Passage):
    """A passage of a corpus; a sentence or block also knows its `parent` passage and its `position` in it, from 0."""

    parent: NotRequired[str]
    position: NotRequired[int]


class Corpus(Sequence[CorpusPassage]):
    """Passages in a fixed order, found by their position.

    Args:
        passages: The passages; at least one, no id twice.
        language: The code of their language (ISO 639-1), in which BM25 reads them; dense retrievers have no use for it.

    Raises:
        InvalidInput: There is no passage, two have the same id, or the language is not known.
    """

    def __init__(self, passages: Iterable[Passage], *, language: str = "en") -> None:
        self.language = known_language(language).code
        self._passages: list[CorpusPassage] = [cast("CorpusPassage", passage) for passage in passages]
        if not self._passages:
            raise InvalidInput("A corpus needs at least one passage; none was given.")
        seen: set[str] = set()
        for passage in self._passages:
            if passage["id"] in seen:
                raise InvalidInput(f"Two passages have the id {passage['id']!r}; ids must differ.")
            seen.add(passage["id"])

    @classmethod
    def load(
        cls,
        path: str | Path,
        format: Format = "auto",
        *,
        unit: Unit = "passage",
        chunk_words: int | None = None,
        language: str = "en",
    ) -> Corpus:
        """Reads a corpus from a file or a folder.

        Records without an id (the paragraphs of multi-hop questions) are known by the hash of title and text and kept
        once. A passage's sentences get the ids `<id>#<n>`, n counting the file's own from 0; blocks `<id>:<n>`.

        Args:
            path: JSON Lines, a JSON array, CSV or TSV with a header, all also `.gz`, or a folder of .txt and .md.
            format: How to read it; `auto` goes by the name.
            unit: What one retrieved passage is.
            chunk_words: Cut longer passages into blocks of so many words (100 in DPR, Karpukhin et al. 2020); of a
                script without spaces, characters.
            language: The code of the passages' language, such as `de`.

        Raises:
            InvalidInput: An argument is not allowed, or two of them contradict each other.
            ResourceError: The file is missing, empty or broken; the message names file, line and reason.
        """
        _check(unit, chunk_words)
        known_language(language)
        passages: list[CorpusPassage] = []
        for record in _distinct(read_records(path, format)):
            passages.extend(_units(record, unit, chunk_words))
        if not passages:
            raise ResourceError(f"There is no passage in {path}.")
        return cls(passages, language=language)

    def __len__(self) -> int:
        return len(self._passages)

    @overload
    def __getitem__(self, position: int) -> CorpusPassage: ...

    @overload
    def __getitem__(self, position: slice) -> list[CorpusPassage]: ...

    def __getitem__(self, position: int | slice) -> CorpusPassage | list[CorpusPassage]:
        return self._passages[position]


def _check(unit: Unit, chunk_words: int | None) -> None:
    if unit not in get_args(Unit):
        raise InvalidInput(f"unit was given {unit!r}; it takes {' or '.join(map(repr, get_args(Unit)))}.")
    if chunk_words is not None and chunk_words < 1:
        raise InvalidInput(f"chunk_words was given {chunk_words}; it takes a whole number of at least 1.")
    if chunk_words is not None and unit == "sentence":
        raise InvalidInput("Sentences are not cut further: give unit='sentence' or chunk_words, not both.")


def _distinct(records: Iterable[tuple[str, Record]]) -> Iterator[Record]:
    seen: set[str] = set()
    for place, record in records:
        if not record.text.strip():
            continue
        identity = record.id or content_id(record.title, record.text)
        if identity not in seen:
            seen.add(identity)
            yield record._replace(id=identity)
        elif record.id is not None:
            raise ResourceError(f"{place}: the id {record.id!r} was used before; ids must differ.")


def _units(record: Record, unit: Unit, chunk_words: int | None) -> Iterator[CorpusPassage]:
    identity = str(record.id)
    if unit == "sentence":
        sentences = record.sentences or [quote.text for quote in split_sentences(record.text)]
        for number, sentence in enumerate(sentences):
            if sentence.strip():
                yield _part(record, f"{identity}#{number}", sentence.strip(), number)
        return
    words = tokens(record.text) if chunk_words else []
    if chunk_words is None or len(words) <= chunk_words:
        yield CorpusPassage(id=identity, title=record.title, text=record.text)
        return
    for number, first in enumerate(range(0, len(words), chunk_words)):
        last = words[min(first + chunk_words, len(words)) - 1]
        yield _part(record, f"{identity}:{number}", record.text[words[first].start : last.end], number)


def _part(record: Record, identity: str, text: str, position: int) -> CorpusPassage:
    return CorpusPassage(id=identity, title=record.title, text=text, parent=str(record.id), position=position)
