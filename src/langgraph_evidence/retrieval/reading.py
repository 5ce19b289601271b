"""Reads rows from files without ever holding a whole file, and says file, line and reason when one is broken."""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedIOBase
    from pathlib import Path

# One line or item is one passage or one question; a longer one is another kind of file, and would fill the memory.
_LONGEST = 64 * 2**20
_BLOCK = 2**20
_BLANKS = re.compile(r"\s*")
_BETWEEN_ITEMS = re.compile(r"[\s,]*")
_HEADING = re.compile(r"^#[^\S\n]++(\S.*)$", re.MULTILINE)


@contextmanager
def _opened(path: Path) -> Iterator[BufferedIOBase]:
    """Opens plain or gzip bytes; what the system or zlib says about them becomes a ResourceError."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise ResourceError(f"{path} cannot be read: {error}.") from error


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The place and text of every line; only a line feed ends one, for JSON strings may hold other separators."""
    with _opened(path) as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            place = f"{path}, line {number}"
            if len(line) == _LONGEST:
                raise ResourceError(f"{place}: {_LONGEST} bytes or more; this is not one passage a line.")
            yield place, _decoded(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line, place)


def _decoded(data: bytes, place: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} is not UTF-8 ({error.reason})"
        raise ResourceError(f"{place}: {reason}; convert the file to UTF-8.") from None


def json_lines(path: Path) -> Iterator[tuple[str, object]]:
    """Yields the place and value of every line that is not blank."""
    for place, line in _lines(path):
        if line.strip():
            try:
                yield place, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ResourceError(f"{place}: not JSON: {error}.") from None


def json_items(path: Path) -> Iterator[tuple[str, object]]:
    """Yields the place and value of every item of a file that is one JSON array."""
    with _opened(path) as file:
        text = _Text(path, file)
        if not text.skip(_BLANKS).startswith("["):
            raise ResourceError(f"{path}: not a JSON array; a file of one object a line is read as jsonl.")
        text.position += 1
        count = 0
        while not text.skip(_BETWEEN_ITEMS).startswith("]", text.position):
            count += 1
            place = f"{path}, item {count}"
            yield place, text.value(place)


def json_rows(path: Path) -> Iterator[tuple[str, object]]:
    """Yields the place and value of every row of a JSON array or of JSON Lines.

    Raises:
        ResourceError: The file cannot be read, or a row is no JSON.
    """
    with _opened(path) as file:
        head = file.read(64)
    array = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"["
    yield from (json_items if array else json_lines)(path)


class _Text:
    """A file's text, of which only the part around the current position is held."""

    def __init__(self, path: Path, file: BufferedIOBase) -> None:
        self._path, self._file = path, file
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._parse = json.JSONDecoder().raw_decode
        self._buffer, self.position = "", 0

    def skip(self, blanks: re.Pattern[str]) -> str:
        """Moves past what the pattern matches and returns what is held."""
        while True:
            if found := blanks.match(self._buffer, self.position):
                self.position = found.end()
            if self.position < len(self._buffer) or not self._read():
                return self._buffer

    def value(self, place: str) -> object:
        """Parses the JSON value at the current position, reading on until it is whole."""
        while True:
            try:
                value, self.position = self._parse(self._buffer, self.position)
            except (ValueError, RecursionError) as error:
                if len(self._buffer) - self.position >= _LONGEST or not self._read():
                    raise ResourceError(f"{place}: not JSON: {error}.") from None
            else:
                return value

    def _read(self) -> bool:
        """Takes in as much again as is held, so that a long item is not parsed anew for every block of it."""
        rest = self._buffer[self.position :]
        data = self._file.read(max(_BLOCK, len(rest)))
        try:
            self._buffer, self.position = rest + self._utf8.decode(data, final=not data), 0
        except UnicodeDecodeError as error:
            raise ResourceError(f"{self._path} is not UTF-8 ({error.reason}); convert it to UTF-8.") from None
        return bool(data)


def csv_rows(path: Path) -> Iterator[tuple[str, object]]:
    """Yields the place and fields of every row below a header that names a column `text`."""
    dialect = csv.excel_tab if ".tsv" in path.suffixes else csv.excel
    place = f"{path}, line 1"

    def texts() -> Iterator[str]:
        nonlocal place
        for here, line in _lines(path):
            place = here
            yield line

    rows = csv.DictReader(texts(), dialect=dialect, strict=True)
    try:
        if "text" not in (rows.fieldnames or []):
            raise ResourceError(f"{place}: the header must name a column 'text'; it names {rows.fieldnames}.")
        for row in rows:
            if None in row or None in row.values():
                raise ResourceError(f"{place}: the row must have {len(rows.fieldnames or [])} fields like the header.")
            yield place, row
    except csv.Error as error:
        raise ResourceError(f"{place}: not CSV: {error}.") from None


def text_files(path: Path) -> Iterator[tuple[str, object]]:
    """Yields every .txt and .md below a folder, by name; the title is the first heading, else the file's name."""
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.suffix.lower() in {".txt", ".md"} and file.is_file() and not hidden:
            yield str(file), _text_file(file, file.relative_to(path).as_posix())


def _text_file(file: Path, name: str) -> dict[str, Any]:
    with _opened(file) as source:
        data = source.read(_LONGEST)
    if len(data) == _LONGEST:
        raise ResourceError(f"{file}: {_LONGEST} bytes or more; split it, or give its passages as JSON Lines.")
    text = _decoded(data.removeprefix(codecs.BOM_UTF8), str(file))
    heading = _HEADING.search(text) if file.suffix.lower() == ".md" else None
    title = heading[1].rstrip().rstrip("#").rstrip() if heading else ""
    return {"id": name, "title": title or file.stem, "text": text}
