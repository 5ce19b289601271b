"""The reader: the answer to a question in given passages (a span, yes, no), or that they do not answer it.

It runs over the shared encoder with its own adapter; `Reader.load` also takes any extractive question-answering model
of the transformers library. Passages are read as `Title: text`, so that a title can be an answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.base import Encoder, RowCache, content_key, load_adapter, shipped, softmax
from langgraph_evidence.models.reader.answer_types import is_polar
from langgraph_evidence.models.reader.answers import Reading, readings, with_outcome
from langgraph_evidence.models.reader.comparison import worked_out
from langgraph_evidence.models.reader.head import KINDS, ReaderHead
from langgraph_evidence.models.reader.passage_order import relevance_order
from langgraph_evidence.models.reader.shared_property import shared_property
from langgraph_evidence.models.reader.spans import WindowScores
from langgraph_evidence.models.reader.windows import Window, windows
from langgraph_evidence.models.shared import default_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from langgraph_evidence.models.base import Adapter, AdapterSpec, TextTokenizer
    from langgraph_evidence.models.reader.comparison import WorkedOut


HEAD = "reader"
NONE_BIAS = "none_bias"
"""In an adapter's details: what is added to the logit of "none", so that 0.5 parts enough evidence from too little."""
THRESHOLD = 0.5
Asked = tuple[str, "Sequence[str]"]
"""A question and its passages."""

# A window costs about 20 ms on a core; more evidence than this is a corpus, which a retriever should search.
_MOST_WINDOWS = 64
_CANDIDATES = 12
# A later window holds less useful passages, and a wrong answer is as sure there; chosen among 1, 0.7, 0.5 and 0.3.
_TRUST = 0.5


class SpanModel(Protocol):
    """What scores the places of an answer: the adapter on the shared encoder, or a full-size model."""

    def scores(self, asked: Sequence[Asked]) -> list[list[WindowScores]]:
        """The windows of each question, scored; at least one window a question."""
        ...


class AdapterSpans:
    """The reader's adapter over an encoder; windows are cached by content, threads may share it.

    Args:
        encoder: The base.
        adapter: Read with `ReaderHead`.
        cached: How many windows are kept.
    """

    def __init__(self, encoder: Encoder, adapter: Adapter, *, cached: int = 2_000) -> None:
        self.encoder, self.adapter = encoder, adapter.freeze(encoder)
        self._cache = RowCache(cached)
        self._bias = _bias(adapter)

    def scores(self, asked: Sequence[Asked]) -> list[list[WindowScores]]:
        """See `SpanModel`; all windows of all questions go through the base in common batches."""
        tokenizer, length = self.encoder.tokenizer, self.adapter.spec.max_tokens
        cut = [packed(tokenizer, question, passages, length) for question, passages in asked]
        flat = [window for group in cut for window in group]
        rows = iter(self._rows(flat))
        return [
            [_window_scores(window, next(rows), _TRUST**rank) for rank, window in enumerate(group)] for group in cut
        ]

    def _rows(self, flat: list[Window]) -> list[NDArray[np.float32]]:
        def compute(indexes: list[int]) -> list[NDArray[np.float32]]:
            inputs = [flat[index].tokens for index in indexes]
            found = self.encoder.run(inputs, self.adapter.head, self.adapter.change)
            return [_unpadded(row, len(tokens), self._bias) for row, tokens in zip(found, inputs, strict=True)]

        keys = [content_key(" ".join(map(str, window.tokens.ids))) for window in flat]
        return self._cache.rows(keys, compute)


def packed(tokenizer: TextTokenizer, question: str, passages: Sequence[str], length: int) -> list[Window]:
    """The windows in which a question is read; where one is not enough, what is read best together comes first."""
    cut = windows(tokenizer, question, passages, max_tokens=length)
    if len(cut) == 1:
        return cut
    order = relevance_order(question, passages)
    cut = windows(tokenizer, question, [passages[place] for place in order], max_tokens=length)[:_MOST_WINDOWS]
    return [Window(window.tokens, [order[place] if place >= 0 else -1 for place in window.passages]) for window in cut]


def _bias(adapter: Adapter) -> float:
    bias = adapter.spec.details.get(NONE_BIAS, 0.0)
    if not isinstance(bias, int | float) or not -10 <= bias <= 10:
        raise ResourceError(
            f"The reader's adapter has {NONE_BIAS} {bias!r}; a number from -10 to 10 is needed. Retrain it."
        )
    return float(bias)


def _unpadded(row: NDArray[np.float32], length: int, bias: float) -> NDArray[np.float32]:
    width = (len(row) - len(KINDS)) // 2
    start = len(KINDS)
    row[KINDS.index("none")] += bias
    return np.concatenate([row[:start], row[start : start + length], row[start + width : start + width + length]])


def _window_scores(window: Window, row: NDArray[np.float32], trust: float) -> WindowScores:
    kinds, length = len(KINDS), len(window.tokens)
    kind = trust * softmax(row[:kinds])
    kind[-1] += 1 - trust
    return WindowScores(
        start=row[kinds : kinds + length],
        end=row[kinds + length :],
        kind=kind,
        passages=window.passages,
        offsets=window.tokens.offsets,
    )


class Reader:
    """Answers from passages.

    Args:
        model: Scores the places of an answer.
    """

    def __init__(self, model: SpanModel) -> None:
        self._model = model

    @classmethod
    def load(cls, source: str | Path | None = None, *, encoder: Encoder | None = None) -> Reader:
        """Loads a reader.

        Args:
            source: An adapter file; or the folder or hub id of an extractive question-answering model (safetensors,
                none of its own code); without it the shipped adapter.
            encoder: The base, where it is not the shared one.

        Raises:
            ResourceError: The weights are missing, altered, for another base or task, or of no such model.
        """
        if source is not None and not str(source).endswith(".safetensors"):
            from langgraph_evidence.models.reader.full_size import FullSpans

            return cls(FullSpans.load(source))
        base = encoder or default_encoder()
        adapter = load_adapter(
            base, Path(source or shipped(HEAD)), HEAD, labels=KINDS, build_head=lambda _: new_head(base)
        )
        return cls(AdapterSpans(base, adapter))

    def read(self, question: str, passages: Sequence[str], *, must_answer: bool = False) -> Reading:
        """The answer in the passages.

        Args:
            question: The question.
            passages: The evidence, each best given as `Title: text`; without any the reading is none.
            must_answer: Never none while there is a passage with any text.

        Raises:
            InvalidInput: The question is empty, or the passages are one string.
        """
        return self.read_batch([(question, passages)], must_answer=must_answer)[0]

    def read_batch(self, asked: Sequence[Asked], *, must_answer: bool = False) -> list[Reading]:
        """As `read`, for many questions at once: one pass over all their windows."""
        return [self._choose(found, must_answer=must_answer) for found in self._candidates(asked)]

    def candidates(self, question: str, passages: Sequence[str], k: int = 5) -> list[Reading]:
        """The best `k` answers, best first, whether or not the evidence seems sufficient; fewer where there are fewer.

        Raises:
            InvalidInput: The question is empty, or the passages are one string.
        """
        return self._candidates([(question, passages)], count=max(1, k))[0][:k]

    @staticmethod
    def _choose(found: list[Reading], *, must_answer: bool) -> Reading:
        if not found:
            return Reading("none", "", -1, 0, 0, 1.0, 0.0)
        best = found[0]
        if must_answer or best.answerable >= THRESHOLD:
            return best
        return Reading("none", "", -1, 0, 0, 1.0 - best.answerable, best.answerable)

    def _candidates(self, asked: Sequence[Asked], count: int = _CANDIDATES) -> list[list[Reading]]:
        for question, passages in asked:
            _check(question, passages)
        known = [place for place, (_, passages) in enumerate(asked) if any(p.strip() for p in passages)]
        scored = self._model.scores([asked[place] for place in known])
        found: list[list[Reading]] = [[] for _ in asked]
        for place, windows_of in zip(known, scored, strict=True):
            read = readings(*asked[place], windows_of, count)
            outcome = self._outcome(*asked[place])
            found[place] = with_outcome(read, outcome, asked[place][1])[:count]
        return found

    def _outcome(self, question: str, passages: Sequence[str]) -> WorkedOut:
        outcome = worked_out(question, passages, self._name_in)
        return shared_property(question, passages) if not outcome.applies and is_polar(question) else outcome

    def _name_in(self, question: str, passage: str) -> str:
        (scored,) = self._model.scores([(question, [passage])])
        found = readings(question, [passage], scored, 1)
        return found[0].text if found else ""


def _check(question: str, passages: Sequence[str]) -> None:
    if not question.strip():
        raise InvalidInput("The question is empty; give the question that the passages are to answer.")
    if isinstance(passages, str):
        raise InvalidInput("The passages are one string; give a sequence of passages.")


def new_head(encoder: Encoder, _spec: AdapterSpec | None = None) -> ReaderHead:
    """An untrained head for a base."""
    return ReaderHead(encoder.dimension, encoder.tokenizer.end)
