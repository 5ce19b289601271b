"""A record as token ids, of which only those are learned that the model itself will write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph_evidence.methods.rq_rag.protocol import Piece, conversation, neutralised, trajectory
from langgraph_evidence.training.rq_rag.records import record_steps, shown
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langgraph_evidence.methods.rq_rag.protocol import ControlTokens
    from langgraph_evidence.training.rq_rag.records import Record

IGNORED = -100
"""The label of a token that carries no loss, as torch's cross entropy has it."""

_FEWEST_CHARS = 80
_SHRINK = 0.8
_LONGEST = 2000


class Example(NamedTuple):
    """One trajectory's token ids and labels, both (n,); the label at a place is its own token, or IGNORED."""

    ids: list[int]
    labels: list[int]


@dataclass(frozen=True, kw_only=True)
class ExampleOptions:
    """How records become tokens.

    Args:
        max_tokens: Of one trajectory (appendix B.1). Passages are shortened until it fits, queries and answers never.
        mask_retrieved: Whether retrieved text carries no loss; without it everything that the assistant's turn holds
            is learned, as by the authors' shipped script.
    """

    max_tokens: int = 4096
    mask_retrieved: bool = True


class Encoder:
    """Writes records as a model's tokenizer reads them.

    Args:
        tokenizer: A fast tokenizer of transformers, with a chat template or without.
        tokens: How it writes the control tokens.
        options: How.
    """

    def __init__(self, tokenizer: Any, tokens: ControlTokens, options: ExampleOptions) -> None:
        self._tokenizer, self._tokens, self._options = tokenizer, tokens, options

    def example(self, record: Record) -> Example | None:
        """The record in at most `max_tokens`; None where it does not fit however short its passages are."""
        limit = max((len(passage["text"]) for passage in shown(record)), default=0)
        while True:
            made = self._encoded(_shortened(record, limit))
            if len(made.ids) <= self._options.max_tokens:
                return made
            if limit <= _FEWEST_CHARS:
                return None
            limit = max(_FEWEST_CHARS, int(min(limit, _LONGEST) * _SHRINK))

    def examples(self, records: Iterable[Record]) -> list[Example]:
        """Those that fit, in order."""
        return [made for record in records if (made := self.example(record)) is not None]

    def _encoded(self, record: Record) -> Example:
        # Everything is tokenised as one text, as it is when it is continued: pieces apart could be cut elsewhere.
        pieces = [Piece(self._opening(record), learned=False), *self._pieces(record)]
        text = "".join(piece.text for piece in pieces)
        coded = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        learned = _places(pieces)
        labels = [
            token if learned[start] else IGNORED
            for token, (start, _) in zip(coded["input_ids"], coded["offset_mapping"], strict=True)
        ]
        return Example(list(coded["input_ids"]), labels)

    def _opening(self, record: Record) -> str:
        turns = [{"role": role, "content": content} for role, content in conversation(record["question"])]
        if self._tokenizer.chat_template:
            return str(self._tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False))
        return "\n\n".join(turn["content"] for turn in turns)

    def _pieces(self, record: Record) -> list[Piece]:
        pieces = trajectory(record_steps(record), record["answer"], self._tokens)
        pieces = [*pieces, Piece(self._tokenizer.eos_token, learned=True)]
        if record["form"] == "one_shot":
            # Nobody asks it for a query: the question is searched with as it stands.
            return [piece._replace(learned=index >= 2 * len(record["steps"])) for index, piece in enumerate(pieces)]
        if not self._options.mask_retrieved:
            return [piece._replace(learned=True) for piece in pieces]
        return pieces


def _places(pieces: Sequence[Piece]) -> list[bool]:
    return [piece.learned for piece in pieces for _ in piece.text]


def _shortened(record: Record, limit: int) -> Record:
    made = record.copy()
    made["steps"] = [step.copy() for step in record["steps"]]
    for step in made["steps"]:
        step["passages"] = [_cut(passage, limit) for passage in step["passages"]]
    return made


def _cut(passage: Passage, limit: int) -> Passage:
    text = passage["text"] if len(passage["text"]) <= limit else neutralised(passage["text"], limit=limit)
    return Passage(id=passage["id"], title=passage["title"], text=text)
