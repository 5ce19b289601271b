"""The text of a trajectory: control tokens, queries, evidence and answer, as it is trained on and as it is continued.

One body of code writes both, so that what a model reads when it answers is what it was trained on, space for space. All
functions are pure; text that comes from outside is neutralised here, so that no control token in it ever acts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.llm.parse import clean
from langgraph_evidence.llm.prompt import quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langgraph_evidence.types import Passage

Refinement = Literal["rewrite", "decompose", "disambiguate"]
"""How a query is made of a question (section 2.1, `type` of equation 1)."""

Action = Literal["rewrite", "decompose", "disambiguate", "answer"]
"""What may be done at a step: one of the refinements, or to end the search and answer (section 2.3)."""

REFINEMENTS: tuple[Refinement, ...] = get_args(Refinement)
ACTIONS: tuple[Action, ...] = get_args(Action)
"""In the order of the authors' code, which is the order of a tree's branches too."""

SYSTEM = "Answer the question. Search for evidence where it is needed, then answer briefly."
"""The one line that stands before the question."""

# A question is never shortened; what no question is, is cut off before it becomes a prompt.
_LONGEST_QUESTION, _LONGEST_QUERY, _LONGEST_ANSWER = 20_000, 1_000, 20_000
_TITLE, _TEXT = 200, 2_000
_ANSWER_LABEL = re.compile(r"^(?:the )?(?:final )?answer(?: is)?\s*+:\s*+", re.IGNORECASE)


@dataclass(frozen=True)
class ControlTokens:
    """How a tokenizer writes the control tokens.

    Attributes:
        rewrite: Before a rewritten query; the paper's [S_Rewritten_Query].
        decompose: Before a sub-question; [S_Decomposed_Query].
        disambiguate: Before a clarified question; [S_Disambiguated_Query].
        answer: Before the final answer; [A_Response].
        evidence: Before the passages that a query found; [R_Evidences].
        evidence_end: After them; [/R_Evidences].
        end: After a query; after the answer stands the model's own end of a turn.
    """

    rewrite: str
    decompose: str
    disambiguate: str
    answer: str
    evidence: str
    evidence_end: str
    end: str

    def of(self, action: Action) -> str:
        """The token of an action."""
        return str(getattr(self, action))

    def action_of(self, token: str) -> Action | None:
        """The action of a token as a model wrote it, if it is one."""
        return self._named.get(token.strip())

    @cached_property
    def _named(self) -> Mapping[str, Action]:
        return {self.of(action): action for action in ACTIONS}

    @property
    def actions(self) -> list[str]:
        """The tokens of the actions, in their order."""
        return [self.of(action) for action in ACTIONS]

    @property
    def all(self) -> list[str]:
        """All control tokens; a mere line break is none."""
        found = [*self.actions, self.evidence, self.evidence_end, self.end]
        return [token for token in found if token.strip()]


SMOLLM2 = ControlTokens(
    rewrite="<issue_start>",
    decompose="<issue_comment>",
    disambiguate="<issue_closed>",
    answer="<jupyter_output>",
    evidence="<file_sep>",
    evidence_end="<empty_output>",
    end="\n",
)
"""Single special tokens of SmolLM2's tokenizer that its chats do not use: an adapter needs no new embeddings."""

PAPER = ControlTokens(
    rewrite="[S_Rewritten_Query]",
    decompose="[S_Decomposed_Query]",
    disambiguate="[S_Disambiguated_Query]",
    answer="[A_Response]",
    evidence="[R_Evidences]",
    evidence_end="[/R_Evidences]",
    end="[EOS]",
)
"""The authors' own, for a model whose tokenizer was extended with them."""


TABLES: Mapping[str, ControlTokens] = {"smollm2": SMOLLM2, "paper": PAPER}
"""The tables by their names."""


class Piece(NamedTuple):
    """A part of a trajectory's text; `learned` tells whether the model writes it, and so whether it carries loss."""

    text: str
    learned: bool


class RefinedQuery(NamedTuple):
    """One step Z_i of a trajectory: an action, its query Q_i and what was found for it, [D_i1 ... D_ik]."""

    action: Refinement
    query: str
    passages: Sequence[Passage]


def neutralised(text: str, *, limit: int = _TEXT) -> str:
    """Text from outside as one line in which no control token is left, of any tokenizer: it has no brackets to be one.

    Args:
        text: A question, a query, a title, a passage.
        limit: The most characters that come back.
    """
    return quote(text, limit=limit)


def conversation(question: str) -> list[tuple[str, str]]:
    """The turns before the trajectory, as pairs of a role and its text: one system line and the question alone."""
    return [("system", SYSTEM), ("user", neutralised(question, limit=_LONGEST_QUESTION))]


def passages_text(passages: Sequence[Passage], *, limit: int = _TEXT) -> str:
    """Passages as a trajectory shows them: a line for the title, a line for so many characters of the text."""
    rows = [(neutralised(p["title"], limit=_TITLE), neutralised(p["text"], limit=limit)) for p in passages]
    return "".join(f"Title: {title}\nText: {text}\n" for title, text in rows)


def step_pieces(step: RefinedQuery, tokens: ControlTokens, *, limit: int = _TEXT) -> list[Piece]:
    """One step's text: the model's action and query, and the evidence that it is given."""
    asked = f"{tokens.of(step.action)}{neutralised(step.query, limit=_LONGEST_QUERY)}{tokens.end}"
    found = f"{tokens.evidence}{passages_text(step.passages, limit=limit)}{tokens.evidence_end}"
    return [Piece(asked, learned=True), Piece(found, learned=False)]


def trajectory(steps: Sequence[RefinedQuery], answer: str, tokens: ControlTokens) -> list[Piece]:
    """The whole of what the assistant says (equation 1), without the model's own end of a turn, which is learned too.

    Args:
        steps: Z_1 to Z_i; none where the question is answered at once.
        answer: Y_final.
        tokens: How the model's tokenizer writes the control tokens.
    """
    said = f"{tokens.answer}{neutralised(answer, limit=_LONGEST_ANSWER)}"
    return [piece for step in steps for piece in step_pieces(step, tokens)] + [Piece(said, learned=True)]


def beginning(steps: Sequence[RefinedQuery], tokens: ControlTokens, *, limits: Sequence[int] = ()) -> str:
    """The trajectory so far, which the model continues with a control token.

    Args:
        steps: Those that are finished.
        tokens: How the model's tokenizer writes the control tokens.
        limits: The most characters of a passage's text for each step, where the context is short of room.
    """
    each = limits or [_TEXT] * len(steps)
    pieces = [step_pieces(step, tokens, limit=limit) for step, limit in zip(steps, each, strict=True)]
    return "".join(piece.text for pair in pieces for piece in pair)


def stops(tokens: ControlTokens) -> list[str]:
    """The texts that end a query."""
    return [tokens.end, *(token for token in tokens.all if token != tokens.end)]


def read_query(reply: str, tokens: ControlTokens) -> str:
    """Reads the query that the model wrote after an action: one line, to its end or to the next control token.

    Raises:
        UnusableReply: There is none.
    """
    text = _before_tokens(reply, [tokens.end, *tokens.all])
    query = neutralised(clean(text), limit=_LONGEST_QUERY)
    if not any(character.isalnum() for character in query):
        raise UnusableReply("A query was expected after the action, and none was written.", reply=reply)
    return query


def read_answer(reply: str, tokens: ControlTokens) -> str:
    """Reads the final answer Y_final: to the next control token, as one line.

    Raises:
        UnusableReply: There is none.
    """
    text = _ANSWER_LABEL.sub("", " ".join(clean(_before_tokens(reply, tokens.all)).split()))
    if not any(character.isalnum() for character in text):
        raise UnusableReply("An answer was expected, and none was written.", reply=reply)
    return text[:_LONGEST_ANSWER]


def _before_tokens(reply: str, marks: Sequence[str]) -> str:
    found = [place for mark in marks if (place := reply.find(mark)) >= 0]
    return reply[: min(found, default=len(reply))]
