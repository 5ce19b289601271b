"""Models for RQ-RAG in the world of `furepa_world`: one that is prompted, one that continues control tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from langchain_core.messages import AIMessage

from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods.rq_rag.protocol import SMOLLM2

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from langgraph_evidence.llm.prompt import PromptCall

FIRST, SECOND = "Dhyan Chand brother", "stadium named after Roop Singh"


def told(call: PromptCall) -> str:
    """What a prompt shows as found."""
    return " ".join(call.values["evidence"])


def _choose(call: PromptCall, _seed: int) -> str:
    return "answer" if "Gwalior" in told(call) else "decompose\nanswer"


def _query(call: PromptCall, _seed: int) -> str:
    return SECOND if "Roop Singh" in told(call) else FIRST


def _answer(call: PromptCall, _seed: int) -> str:
    return "Gwalior, India" if "Gwalior" in told(call) else "unknown"


def script() -> list[tuple[Any, Any]]:
    """Two hops, each a sub-question, then an answer."""
    return [
        (Asks("rq_rag.choose"), _choose),
        (Asks("rq_rag.answer_known"), "unknown"),
        (Asks("rq_rag.answer"), _answer),
        (Asks("rq_rag.*"), _query),
    ]


def scripted(**fields: Any) -> ScriptedChat:
    """The scripted model of this world."""
    return ScriptedChat(**{"rules": script(), **fields})


def searching(**fields: Any) -> ScriptedChat:
    """One that searches for something else at every step."""
    rules = [
        (Asks("rq_rag.choose"), "rewrite"),
        (Asks("rq_rag.answer*"), "Gwalior"),
        (Asks("rq_rag.*"), lambda call, _seed: f"Dhyan Chand {len(call.values['queries'])}"),
    ]
    return ScriptedChat(**{"rules": rules, **fields})


class TrainedChat(ScriptedChat):
    """A scripted model that says it has the adapter, as a local one would."""

    adapter: ClassVar[str] = "rq_rag"


def reply(
    text: str, logprobs: Sequence[float] = (), *, finish: str = "stop", top: Mapping[str, float] | None = None
) -> AIMessage:
    """What a local model says: the text, and a log-probability for each of its words, which are its tokens."""
    words = text.split(" ")
    tokens = [word if number == 0 else f" {word}" for number, word in enumerate(words)]
    values = [*logprobs, *[-0.5] * (len(tokens) - len(logprobs))]
    rows = [
        {
            "token": token,
            "logprob": value,
            "top_logprobs": [{"token": name, "logprob": other} for name, other in (top or {token: value}).items()],
        }
        for token, value in zip(tokens, values, strict=False)
    ]
    return AIMessage(text, response_metadata={"finish_reason": finish, "logprobs": {"content": rows}})


Continue = "Callable[[Mapping[str, Any]], AIMessage | str]"


def trained(go: Callable[[Mapping[str, Any]], Any], **fields: Any) -> TrainedChat:
    """A model that continues a trajectory: `go` is given what was written, its steps and its open action."""
    rules = [(Asks("rq_rag.trajectory"), lambda call, _seed: go(call.values["written"]))]
    return TrainedChat(**{"rules": rules, **fields})


def actions(**logprobs: float) -> AIMessage:
    """The action tokens with their log-probabilities, the likeliest of them first."""
    ranked = sorted(logprobs.items(), key=lambda item: -item[1])
    top = {SMOLLM2.of(name): value for name, value in ranked}  # type: ignore[arg-type]  # names of actions
    return reply(SMOLLM2.of(ranked[0][0]), [ranked[0][1]], finish="length", top=top)  # type: ignore[arg-type]  # as above
