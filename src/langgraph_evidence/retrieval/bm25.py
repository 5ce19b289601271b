"""BM25 over any number of passages: every score computed once and kept in flat arrays that can be memory-mapped."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable  # noqa: TC003 - pydantic resolves this module's annotations
from pathlib import Path  # noqa: TC003 - as above
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray  # noqa: TC002 - as above
from pydantic import Field, PrivateAttr, SkipValidation

from langgraph_evidence.errors import ResourceError
from langgraph_evidence.retrieval.retriever import PassageRetriever, Ranking, best
from langgraph_evidence.retrieval.storage import load_array, save_array
from langgraph_evidence.types import Passage  # noqa: TC001 - as above

# AdMIRaL (Aly & Vlachos 2022) uses Pyserini's BM25 with these values. On fold 7 of our data, own paragraphs, no choice
# wins everywhere: 1.2 / 0.75 finds 2 points more on HotpotQA at 2, these 2 to 4 points more on 2Wiki (see benches).
K1 = 0.6
B = 0.4

_WORD = re.compile(r"\w+")
# Function words of a question find nothing but long postings; they stay in the index for passages named by them alone.
STOP_WORDS = frozenset(
    "a about after also an and any are as at be been both but by can could did do does during each for from had has "
    "have he her him his how i if in into is it its may me more most my no not of on or our over she should so some "
    "such than that the their them then there these they this those through to under until up was we were what when "
    "where which while who whom whose why will with would you your".split()
)


def words(text: str) -> list[str]:
    """The terms of a text: lower-case words, an English plural `s` removed (the S stemmer of Harman 1991).

    Measured on fold 7, own paragraphs, mean recall@2/3/5 of three data sets: 64.6 plain, 65.9 with the stemmer, 71.0
    with the stemmer and `query_words`.
    """
    return [_singular(word) if word[-1] == "s" else word for word in _WORD.findall(text.lower())]


def query_words(query: str) -> list[str]:
    """The terms of a query without its function words, unless it has no others."""
    content = [word for word in _WORD.findall(query.lower()) if word not in STOP_WORDS]
    return words(" ".join(content) or query)


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies") and word[-4] not in "ae":
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    return word[:-1] if len(word) > 2 and word[-2] not in "us" else word


class Postings(NamedTuple):
    """For every term the passages that hold it and their BM25 scores, in arrays.

    Args:
        scores: float32, all columns' scores one after the other; a column is a term's.
        positions: int32, the passages that the scores belong to.
        starts: int64, shape (terms + 1,); column c has scores[starts[c]:starts[c + 1]].
        terms: uint8, the sorted terms' UTF-8 bytes one after the other.
        term_starts: int64, shape (terms + 1,), likewise.
        columns: int32, shape (terms,), the column of each sorted term.
    """

    scores: NDArray[np.float32]
    positions: NDArray[np.int32]
    starts: NDArray[np.int64]
    terms: NDArray[np.uint8]
    term_starts: NDArray[np.int64]
    columns: NDArray[np.int32]

    @classmethod
    def build(cls, texts: Iterable[str], *, k1: float, b: float) -> Self:
        """Scores every term of every text with Lucene's BM25 (its idf is never negative, which small pools need).

        bm25s scores when it builds; its arrays are kept as they are, beside a vocabulary that can be memory-mapped.
        """
        import bm25s

        numbers: dict[str, int] = {}
        ids = [[numbers.setdefault(term, len(numbers)) for term in words(text)] for text in texts]
        if not numbers:  # bm25s divides by the mean length; this term is in no query
            numbers, ids[0] = {"": 0}, [0]
        engine = bm25s.BM25(method="lucene", k1=k1, b=b)
        # A copy, because bm25s adds a term of its own that has no column.
        engine.index(bm25s.tokenization.Tokenized(ids=ids, vocab=dict(numbers)), show_progress=False)
        ordered = sorted((text.encode(), column) for text, column in numbers.items())
        return cls(
            scores=np.asarray(engine.scores["data"], dtype=np.float32),
            positions=np.asarray(engine.scores["indices"], dtype=np.int32),
            starts=np.asarray(engine.scores["indptr"], dtype=np.int64),
            terms=np.frombuffer(b"".join(text for text, _ in ordered), dtype=np.uint8),
            term_starts=np.cumsum([0, *(len(text) for text, _ in ordered)], dtype=np.int64),
            columns=np.array([column for _, column in ordered], dtype=np.int32),
        )

    def save(self, folder: Path) -> None:
        """Writes one .npy an array."""
        for name, values in self._asdict().items():
            save_array(folder / f"bm25.{name}.npy", values)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Memory-maps what `save` wrote.

        Raises:
            ResourceError: An array is damaged or does not fit the others.
        """
        loaded = {
            name: load_array(folder / f"bm25.{name}.npy", dtype, 1)
            for name, dtype in zip(cls._fields, _TYPES, strict=True)
        }
        postings = cls(**loaded)
        fits = len(postings.scores) == len(postings.positions) and len(postings.starts) == len(postings.term_starts)
        if not fits or len(postings.columns) + 1 != len(postings.starts):
            raise ResourceError(f"The BM25 arrays in {folder} do not fit each other; build the index again.")
        return postings

    def score(self, query: str, count: int) -> NDArray[np.float32]:
        """The BM25 scores of all `count` passages, shape (count,); a term given twice counts twice."""
        total = np.zeros(count, dtype=np.float32)
        for word in query_words(query):
            column = self._column(word.encode())
            if column is not None:
                part = slice(self.starts[column], self.starts[column + 1])
                _add(total, self.positions[part], self.scores[part])
        return total

    def _column(self, term: bytes) -> int | None:
        def at(index: int) -> bytes:
            return self.terms[self.term_starts[index] : self.term_starts[index + 1]].tobytes()

        index = bisect_left(range(len(self.columns)), term, key=at)
        found = index < len(self.columns) and at(index) == term
        return int(self.columns[index]) if found else None


def _add(total: NDArray[np.float32], positions: NDArray[np.int32], scores: NDArray[np.float32]) -> None:
    """Adds one term's scores; it names a passage once, so adding in place by index loses nothing."""
    try:
        total[positions] += scores
    except IndexError as error:
        raise ResourceError(f"The index names a passage that it does not have ({error}); build it again.") from error


_TYPES = (np.float32, np.int32, np.int64, np.uint8, np.int64, np.int32)


def searched_text(passage: Passage) -> str:
    """What BM25 reads of a passage: the title as well where the text repeats it, which lifts recall by a point."""
    return f"{passage['title']} {passage['text']}"


class BM25Retriever(PassageRetriever):
    """Ranks passages, title and text, by BM25; a passage without a term of the query is never returned.

    Args:
        passages: The passages, by position.
        k: How many documents a query gets, at most.
        k1: How soon more of the same term stops counting.
        b: How much a long passage is marked down.
        postings: Scores that were computed before with the same passages, k1 and b.
    """

    k1: float = Field(default=K1, ge=0)
    b: float = Field(default=B, ge=0, le=1)
    postings: SkipValidation[Postings | None] = Field(default=None, repr=False)
    _postings: Postings = PrivateAttr()

    def model_post_init(self, context: Any) -> None:  # noqa: ARG002 - pydantic passes it
        """Computes the postings of passages that come without them."""
        self._postings = self.postings or Postings.build(map(searched_text, self.passages), k1=self.k1, b=self.b)

    def rank(self, query: str, k: int) -> Ranking:
        """Ranks the best k passages that share a term with the query; equal scores stand in the corpus' order."""
        return best(self._postings.score(query, len(self.passages)), k)
