from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.retrieval import Corpus
from langgraph_evidence.retrieval.formats import BrokenRowError, records_of
from langgraph_evidence.types import content_id

HOTPOT: dict[str, Any] = {
    "_id": "5a8",
    "question": "Who?",
    "context": [
        ["Ada Lovelace", ["Ada Lovelace was a mathematician.", " She wrote about Babbage.", " "]],
        ["Charles Babbage", ["Charles Babbage designed engines."]],
    ],
    "supporting_facts": [["Ada Lovelace", 1]],
}
MUSIQUE = {
    "id": "2hop__1_2",
    "question": "Who?",
    "paragraphs": [
        {
            "idx": 0,
            "title": "Ada Lovelace",
            "paragraph_text": "Ada was born in 1815. She died in 1852.",
            "is_supporting": True,
        }
    ],
}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_json_lines_with_id_pid_and_without_an_id(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "title": "T", "text": "one"},
        {"pid": 0, "text": "two\u2028still two"},
        {"title": "H", "text": "three"},
        {"title": "H", "text": "three"},
    ]
    corpus = Corpus.load(write(tmp_path / "c.jsonl", rows))
    assert [passage["id"] for passage in corpus] == ["a", "0", content_id("H", "three")]
    assert corpus[1] == {"id": "0", "title": "", "text": "two\u2028still two"}


def test_gzip_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf{"id": "a", "text": "one"}\n\n{"id": "b", "text": "two"}'))
    assert [passage["text"] for passage in Corpus.load(path)] == ["one", "two"]


def test_csv_and_tsv(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text('id,title,text\n1,T,"a, b\nc"\n', encoding="utf-8")
    assert list(Corpus.load(tmp_path / "c.csv")) == [{"id": "1", "title": "T", "text": "a, b\nc"}]
    (tmp_path / "psgs.tsv").write_text("id\ttext\ttitle\n7\thello\tT\n", encoding="utf-8")
    assert list(Corpus.load(tmp_path / "psgs.tsv")) == [{"id": "7", "title": "T", "text": "hello"}]


def test_a_folder_of_texts(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("# A heading #\nbody", encoding="utf-8")
    (tmp_path / "a.txt").write_text("plain", encoding="utf-8")
    (tmp_path / ".hidden.txt").write_text("no", encoding="utf-8")
    (tmp_path / "c.pdf").write_bytes(b"\xff")
    assert [(p["id"], p["title"]) for p in Corpus.load(tmp_path)] == [("a.txt", "a"), ("sub/b.md", "A heading")]


def test_multi_hop_files_are_de_duplicated_by_title_and_text(tmp_path: Path) -> None:
    array = tmp_path / "hotpot.json"
    array.write_text(json.dumps([HOTPOT, HOTPOT], indent=2), encoding="utf-8")
    from_array, from_lines = Corpus.load(array), Corpus.load(write(tmp_path / "h.jsonl", [HOTPOT, HOTPOT]))
    assert list(from_array) == list(from_lines)
    assert [p["title"] for p in from_array] == ["Ada Lovelace", "Charles Babbage"]
    assert from_array[0]["text"] == "Ada Lovelace was a mathematician. She wrote about Babbage."
    assert len(Corpus.load(write(tmp_path / "m.jsonl", [MUSIQUE]))) == 1


def test_a_paragraph_without_text_is_left_out(tmp_path: Path) -> None:
    question = {"context": [["Empty", []], ["T", ["One."]]]}
    assert [p["title"] for p in Corpus.load(write(tmp_path / "h.jsonl", [question]))] == ["T"]


def test_the_column_form_of_hotpot_and_sentences_without_blanks() -> None:
    columns = {"title": ["T"], "sentences": [["One.", "Two."]]}
    assert records_of({"context": columns})[0].text == "One. Two."


def test_sentences_keep_the_numbers_of_the_supporting_facts(tmp_path: Path) -> None:
    corpus = Corpus.load(write(tmp_path / "h.jsonl", [HOTPOT]), unit="sentence")
    parent = content_id("Ada Lovelace", "Ada Lovelace was a mathematician. She wrote about Babbage.")
    assert corpus[1] == {
        "id": f"{parent}#1",
        "title": "Ada Lovelace",
        "text": "She wrote about Babbage.",
        "parent": parent,
        "position": 1,
    }
    assert len(corpus) == 3


def test_sentences_are_found_where_the_file_has_none(tmp_path: Path) -> None:
    corpus = Corpus.load(write(tmp_path / "m.jsonl", [MUSIQUE]), unit="sentence")
    assert [p["text"] for p in corpus] == ["Ada was born in 1815.", "She died in 1852."]
    whole = {"context": [["T", ["One is here. Two is there."]]], "sentence_split": False}
    corpus = Corpus.load(write(tmp_path / "w.jsonl", [whole]), unit="sentence")
    assert [p["position"] for p in corpus] == [0, 1]


@given(st.lists(st.sampled_from(["a", "bb", "\u00e9", "c.\n"]), min_size=1, max_size=40), st.integers(1, 12))
def test_blocks_hold_every_word_once(tmp_path_factory: pytest.TempPathFactory, tokens: list[str], size: int) -> None:
    path = write(tmp_path_factory.mktemp("c") / "c.jsonl", [{"id": "x", "text": "  ".join(tokens)}])
    corpus = Corpus.load(path, chunk_words=size)
    assert [word for p in corpus for word in p["text"].split()] == "  ".join(tokens).split()
    assert all(len(p["text"].split()) <= size for p in corpus)
    assert corpus[0]["id"] == ("x:0" if len(corpus) > 1 else "x")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"id": "a", "text": "x"}\n{"id": "b"\n', "line 2: not JSON"),
        (b'{"id": "a", "text": "x"}\n[1]\n', "line 2: expected a JSON object, found list"),
        (b'{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n', "line 2: the id 'a' was used before"),
        (b'{"id": "a", "text": ""}\n', "line 1: the text is empty"),
        (b'{"id": "a", "title": "T"}\n', "line 1: text must be a string, not NoneType"),
        (b'{"id": true, "text": "x"}\n', "line 1: the id is a bool"),
        (b'{"id": [], "text": "x"}\n', "line 1: the id is a list"),
        (b'{"id": "a", "text": "\\ud800"}\n', "line 1: text holds half of a surrogate pair"),
        (b'{"id": "a", "text": "x"}\n{"text": "\xff"}\n', "line 2: byte 11 is not UTF-8"),
        (b"[" * 100_000 + b"\n", "line 1: not JSON"),
        (b'{"context": [["T"]]}\n', "line 1: context must be a list of"),
        (b'{"context": [["T", [1]]]}\n', "line 1: sentence must be a string"),
        (b'{"paragraphs": {}}\n', "line 1: paragraphs must be a list"),
        (b"\n", "There is no passage"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(content)
    with pytest.raises(ResourceError, match=reason) as caught:
        Corpus.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("c.json", b'[{"id": "a", "text": "x"}, {"id": ', "item 2: not JSON"),
        ("c.json", b'[{"id": "a", "text": "x"}', "item 2: not JSON"),
        ("c.json", b'{"id": "a"}', "not a JSON array"),
        ("c.json", b"", "not a JSON array"),
        ("c.json", b'[{"text": "\xff"}]', "not UTF-8"),
        ("c.jsonl.gz", b"no gzip", "cannot be read"),
        ("c.jsonl.gz", gzip.compress(b'{"text": "x"}')[:-9], "cannot be read"),
        ("c.csv", b"id,body\n1,x\n", "line 1: the header must name a column 'text'"),
        ("c.csv", b"id,text\n1,x,y\n", "line 2: the row must have 2 fields"),
        ("c.csv", b'id,text\n1,"x\n', "not CSV"),
        ("c.csv", b"", "the header must name"),
    ],
)
def test_other_broken_files(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ResourceError, match=reason):
        Corpus.load(tmp_path / name)


def test_a_long_array_is_read_in_blocks(tmp_path: Path) -> None:
    rows = [{"id": str(i), "text": "w" * (i % 7) * 100_000 + "x"} for i in range(40)]
    (tmp_path / "c.json").write_text(json.dumps(rows), encoding="utf-8")
    assert [p["text"] for p in Corpus.load(tmp_path / "c.json")] == [row["text"] for row in rows]


def test_wrong_arguments(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", [{"id": "a", "text": "x"}])
    with pytest.raises(ResourceError, match="There is no corpus at"):
        Corpus.load(tmp_path / "missing.jsonl")
    with pytest.raises(InvalidInput, match="does not say its format"):
        Corpus.load(tmp_path / "corpus.parquet")
    with pytest.raises(InvalidInput, match="no corpus format 'xml'"):
        Corpus.load(path, "xml")  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(InvalidInput, match="unit was given 'word'"):
        Corpus.load(path, unit="word")  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(InvalidInput, match="at least 1"):
        Corpus.load(path, chunk_words=0)
    with pytest.raises(InvalidInput, match="not both"):
        Corpus.load(path, unit="sentence", chunk_words=3)
    with pytest.raises(ResourceError, match="cannot be read as folder"):
        Corpus.load(path, "folder")
    with pytest.raises(InvalidInput, match="at least one passage"):
        Corpus([])
    with pytest.raises(InvalidInput, match="Two passages have the id 'a'"):
        Corpus([{"id": "a", "title": "", "text": "x"}, {"id": "a", "title": "", "text": "y"}])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "title", "text", "context", "paragraphs", "sentences"]), inner, max_size=4
        )
    ),
)


@given(_JSON)
def test_any_row_is_records_or_a_reason(row: Any) -> None:
    try:
        records = records_of(row)
    except BrokenRowError:
        return
    assert all(isinstance(record.text, str) for record in records)
