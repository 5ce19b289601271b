"""The reader's input: question and passages as token windows that know which characters each token stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_evidence.models.base import Tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokenizers import Encoding

    from langgraph_evidence.models.base import TextTokenizer

MAX_TOKENS = 384
STRIDE = 64
_QUESTION_TOKENS = 64


@dataclass(frozen=True)
class Window:
    """One input of the model.

    Args:
        tokens: `[CLS] question [SEP] passage [SEP] passage ... [SEP]`; offsets are characters of a token's own passage.
        passages: For every token its passage, -1 where it belongs to none.
    """

    tokens: Tokens
    passages: list[int]


@dataclass(frozen=True)
class _Piece:
    passage: int
    ids: list[int]
    spans: list[tuple[int, int]]


def windows(
    tokenizer: TextTokenizer,
    question: str,
    passages: Sequence[str],
    *,
    max_tokens: int = MAX_TOKENS,
    stride: int = STRIDE,
) -> list[Window]:
    """Packs the question and its passages, in order, into as few windows as hold them all.

    A passage stays whole where it fits beside the question; a longer one is cut into overlapping pieces. There is
    always at least one window, so that a question without evidence is read like any other.

    Args:
        tokenizer: The encoder's.
        question: The question; cut where it is very long.
        passages: The evidence.
        max_tokens: Length of a window.
        stride: Tokens that two pieces of one long passage share.
    """
    asked, *encodings = tokenizer.fast.encode_batch([question, *passages], add_special_tokens=False)
    head = [tokenizer.start, *asked.ids[: min(_QUESTION_TOKENS, max_tokens // 2)], tokenizer.end]
    room = max_tokens - len(head)
    packed: list[list[_Piece]] = [[]]
    used = 0
    for piece in _pieces(encodings, room - 1, min(stride, room // 2)):
        if used and used + len(piece.ids) + 1 > room:
            packed.append([])
            used = 0
        packed[-1].append(piece)
        used += len(piece.ids) + 1
    return [_window(head, pieces, tokenizer.end) for pieces in packed]


def _pieces(encodings: Sequence[Encoding], room: int, stride: int) -> list[_Piece]:
    pieces = []
    for passage, encoding in enumerate(encodings):
        ids, offsets = encoding.ids, encoding.offsets
        for start in range(0, max(1, len(ids) - stride), room - stride):
            if len(ids) <= room:
                pieces.append(_Piece(passage, ids, offsets))
                break
            pieces.append(_Piece(passage, ids[start : start + room], offsets[start : start + room]))
    return [piece for piece in pieces if piece.ids]


def _window(head: list[int], pieces: Sequence[_Piece], separator: int) -> Window:
    ids = list(head)
    owners = [-1] * len(head)
    spans = [(0, 0)] * len(head)
    for piece in pieces:
        ids += [*piece.ids, separator]
        owners += [piece.passage] * len(piece.ids) + [-1]
        spans += [*piece.spans, (0, 0)]
    return Window(Tokens(ids, len(head), spans), owners)
