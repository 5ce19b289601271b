"""Texts to token ids: the fast tokenizer of a model folder, its inputs and their padded batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from tokenizers import Tokenizer

from langgraph_evidence.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

# No usual text has more characters a token; what lies beyond would be cut anyway, so it is not tokenised at all.
_CHARACTERS_A_TOKEN = 32


@dataclass(frozen=True)
class Tokens:
    """One model input: `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]`.

    Args:
        ids: Token ids.
        second: Index of b's first token; the length of `ids` without a second part.
        offsets: Character span of each token in its own part; (0, 0) for special tokens.
    """

    ids: list[int]
    second: int
    offsets: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Batch:
    """Padded inputs, each (batch, length): token ids, token types, and a mask that is true at tokens."""

    ids: Tensor
    types: Tensor
    mask: Tensor


class TextTokenizer:
    """The fast tokenizer of a model folder, with truncation that is not shared state.

    Args:
        path: Its tokenizer.json.

    Raises:
        ResourceError: The file is damaged, or lacks [CLS], [SEP] or [PAD].
    """

    def __init__(self, path: Path) -> None:
        try:
            self.fast = Tokenizer.from_file(str(path))
        except Exception as error:
            raise ResourceError(f"{path} is not a tokenizer ({error}). Restore the file.") from error
        self.fast.no_truncation()
        self.fast.no_padding()
        special = [self.fast.token_to_id(name) for name in ("[CLS]", "[SEP]", "[PAD]")]
        known = [number for number in special if number is not None]
        if len(known) < len(special):
            raise ResourceError(f"{path} has no [CLS], [SEP] and [PAD]; give the tokenizer of a BERT.")
        self.start, self.end, self.padding = known

    def singles(self, texts: Sequence[str], max_tokens: int) -> list[Tokens]:
        """Texts as inputs of at most `max_tokens` tokens; what is over is cut at the end."""
        parts = self._parts(texts, max_tokens)
        return [self._join(ids[: max_tokens - 2], offsets[: max_tokens - 2]) for ids, offsets in parts]

    def pairs(self, pairs: Sequence[tuple[str, str]], max_tokens: int) -> list[Tokens]:
        """Text pairs as inputs of at most `max_tokens` tokens; the longer part is cut first, at its end."""
        unique = list(dict.fromkeys(text for pair in pairs for text in pair))
        parts = dict(zip(unique, self._parts(unique, max_tokens), strict=True))
        return [self._pair(parts[first], parts[second], max_tokens - 3) for first, second in pairs]

    def _parts(self, texts: Sequence[str], max_tokens: int) -> list[tuple[list[int], list[tuple[int, int]]]]:
        clipped = [text[: max_tokens * _CHARACTERS_A_TOKEN] for text in texts]
        encodings = self.fast.encode_batch(clipped, add_special_tokens=False)
        return [(encoding.ids[:max_tokens], encoding.offsets[:max_tokens]) for encoding in encodings]

    def _join(self, ids: list[int], offsets: list[tuple[int, int]]) -> Tokens:
        return Tokens([self.start, *ids, self.end], len(ids) + 2, [(0, 0), *offsets, (0, 0)])

    def _pair(
        self, first: tuple[list[int], list[tuple[int, int]]], second: tuple[list[int], list[tuple[int, int]]], room: int
    ) -> Tokens:
        keep_first = min(len(first[0]), max(room - len(second[0]), room - room // 2))
        keep_second = min(len(second[0]), room - keep_first)
        head = self._join(first[0][:keep_first], first[1][:keep_first])
        ids = [*head.ids, *second[0][:keep_second], self.end]
        return Tokens(ids, len(head.ids), [*head.offsets, *second[1][:keep_second], (0, 0)])

    def collate(self, inputs: Sequence[Tokens], device: torch.device | None = None) -> Batch:
        """Pads inputs to the longest of them."""
        width = max(len(tokens) for tokens in inputs)
        ids = np.full((len(inputs), width), self.padding, dtype=np.int64)
        types = np.zeros_like(ids)
        mask = np.zeros(ids.shape, dtype=bool)
        for row, tokens in enumerate(inputs):
            ids[row, : len(tokens)] = tokens.ids
            types[row, tokens.second : len(tokens)] = 1
            mask[row, : len(tokens)] = True
        return Batch(*(torch.from_numpy(array).to(device or "cpu") for array in (ids, types, mask)))
