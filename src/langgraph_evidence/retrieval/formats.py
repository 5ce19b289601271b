"""Reads passages from the files people have: JSON Lines, JSON arrays, CSV, folders of text, multi-hop question files.

Every reader is a generator that holds one row at a time. A row's own shape says what it is: `text` is a passage,
`context` a HotpotQA or 2WikiMultihopQA question, `paragraphs` a MuSiQue question.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.retrieval.reading import csv_rows, json_items, json_lines, text_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Format = Literal["auto", "jsonl", "json", "csv", "tsv", "folder"]

_SUFFIXES: dict[str, Format] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv"}
_READERS = {"jsonl": json_lines, "json": json_items, "csv": csv_rows, "tsv": csv_rows, "folder": text_files}


class Record(NamedTuple):
    """One passage as it stands in a file; without an id of its own it has None."""

    id: str | None
    title: str
    text: str
    sentences: list[str] | None = None


class BrokenRowError(ValueError):
    """A row that is no passage and no question; its message is the reason."""


def read_records(path: str | Path, file_format: Format = "auto") -> Iterator[tuple[str, Record]]:
    """Reads a corpus file or folder, one record at a time.

    Args:
        path: The file (`.gz` is read as well) or the folder.
        file_format: How to read it; `auto` goes by the name.

    Yields:
        Where the record stands (file and line, for messages) and the record.

    Raises:
        InvalidInput: The format is unknown, or not to be seen from the name.
        ResourceError: The path is missing, unreadable, or has a broken line.
    """
    path = Path(path)
    kind = _format_of(path, file_format)
    if not path.exists():
        raise ResourceError(f"There is no corpus at {path}.")
    if (kind == "folder") != path.is_dir():
        raise ResourceError(f"{path} is {'a folder' if path.is_dir() else 'no folder'} and cannot be read as {kind}.")
    for place, row in _READERS[kind](path):
        try:
            records = records_of(row)
        except BrokenRowError as error:
            raise ResourceError(f"{place}: {error}") from None
        for record in records:
            yield place, record


def _format_of(path: Path, file_format: Format) -> Format:
    if file_format not in get_args(Format):
        raise InvalidInput(f"There is no corpus format {file_format!r}; there are {', '.join(get_args(Format))}.")
    if file_format != "auto":
        return file_format
    if path.is_dir():
        return "folder"
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix.lower() not in _SUFFIXES:
        raise InvalidInput(
            f"The name of {path} does not say its format; give one of {', '.join(get_args(Format)[1:])}."
        )
    return _SUFFIXES[suffix.lower()]


def records_of(row: object) -> list[Record]:
    """The passages of one row: itself, or the paragraphs of a multi-hop question in their order.

    Raises:
        BrokenRowError: The row has none of the known shapes.
    """
    if not isinstance(row, dict):
        raise BrokenRowError(f"expected a JSON object, found {type(row).__name__}")
    if "context" in row:
        return [_paragraph(*pair, split=row.get("sentence_split", True)) for pair in _context(row["context"])]
    if "paragraphs" in row:
        return [_musique(paragraph) for paragraph in _list(row["paragraphs"], "paragraphs")]
    return [_passage(row)]


def _passage(row: dict[str, Any]) -> Record:
    number = next((row[key] for key in ("id", "pid", "_id") if row.get(key) not in (None, "")), None)
    if isinstance(number, bool) or not isinstance(number, str | int | None):
        raise BrokenRowError(f"the id is a {type(number).__name__}; it must be a string or a whole number")
    text = _text(row.get("text"), "text")
    if not text.strip():
        raise BrokenRowError("the text is empty")
    identity = None if number is None else _text(str(number), "id")
    return Record(identity, _text(row.get("title") or "", "title"), text)


def _context(context: object) -> list[tuple[object, object]]:
    """HotpotQA's `[[title, sentences], ...]`, or the column form `{"title": [...], "sentences": [...]}`."""
    if isinstance(context, dict):
        titles, texts = _list(context.get("title"), "context.title"), context.get("sentences", context.get("content"))
        pairs: list[Any] = list(zip(titles, _list(texts, "context.sentences"), strict=False))
    else:
        pairs = _list(context, "context")
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise BrokenRowError("context must be a list of [title, sentences] pairs")
    return pairs


def _paragraph(title: object, body: object, *, split: bool) -> Record:
    if isinstance(body, str):
        return Record(None, _text(title, "title"), _text(body, "context text"))
    sentences = [_text(sentence, "sentence") for sentence in _list(body, "sentences")]
    return Record(None, _text(title, "title"), _joined(sentences), sentences if split else None)


def _joined(sentences: Iterable[str]) -> str:
    """HotpotQA's sentences carry their leading blank, 2WikiMultihopQA's do not."""
    text = ""
    for sentence in sentences:
        glue = " " if text and sentence and not (text[-1].isspace() or sentence[0].isspace()) else ""
        text += glue + sentence
    return text.strip()


def _musique(paragraph: object) -> Record:
    if not isinstance(paragraph, dict):
        raise BrokenRowError("paragraphs must be a list of objects")
    text = paragraph.get("paragraph_text", paragraph.get("text"))
    return Record(None, _text(paragraph.get("title") or "", "title"), _text(text, "paragraph_text"))


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise BrokenRowError(f"{name} must be a list, not {type(value).__name__}")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise BrokenRowError(f"{name} must be a string, not {type(value).__name__}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise BrokenRowError(f"{name} holds half of a surrogate pair, which is no Unicode text") from None
    return value
