"""RQ-RAG's prompts as the offline model replies to them: its planner's queries, its reader's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_evidence.llm.offline.answers import find_answer
from langgraph_evidence.llm.offline.hops import plan
from langgraph_evidence.llm.offline.nested import parts
from langgraph_evidence.methods.rq_rag import prompts
from langgraph_evidence.methods.rq_rag.protocol import TABLES
from langgraph_evidence.text import unpunctuated
from langgraph_evidence.types import passage_line

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from langgraph_evidence.llm.offline import Responder

    Values = Mapping[str, Any]


def _choose(values: Values) -> str:
    """The answer where the evidence is likely to hold it; else a sub-question of a nested one, else a better query."""
    steps = plan(values["question"], tuple(values["evidence"]))
    if steps.ready >= 0.5:
        return "answer"
    return "decompose\nrewrite" if parts(values["question"]) else "rewrite\ndecompose"


def _new(values: Values) -> list[str]:
    """The planner's queries that were not asked yet, the best first; the question itself where none is left."""
    asked = {unpunctuated(query) for query in values["queries"]}
    ranked = [query for query, _ in plan(values["question"], tuple(values["evidence"])).queries]
    return [query for query in ranked if unpunctuated(query) not in asked] or [str(values["question"])]


def _rewrite(values: Values) -> str:
    query = _new(values)[0] if values["queries"] else values["question"]
    return f"Retrieval Necessity: yes\nQuery For Search Engine:\n{query}"


def _decompose(values: Values) -> str:
    return _new(values)[0]


def _disambiguate(values: Values) -> str:
    return _new(values)[:2][-1]


def _answer(values: Values) -> str:
    return find_answer(values["question"], tuple(values["evidence"])).text or "unknown"


_ACTIONS: dict[str, Callable[[Values], str]] = {
    "rewrite": lambda values: _rewrite(values).splitlines()[-1],
    "decompose": _decompose,
    "disambiguate": _disambiguate,
    "answer": lambda values: _answer(values) if values["evidence"] else "unknown",
}


def _trajectory(values: Values) -> str:
    """What a trained model would write on with: an action's token, or the text that follows it."""
    written = values["written"]
    told = {
        "question": values["question"],
        "queries": [step["query"] for step in written["steps"]],
        "evidence": [passage_line(passage) for step in written["steps"] for passage in step["passages"]],
    }
    if written["action"]:
        return _ACTIONS[written["action"]](told)
    return str(getattr(TABLES[written["tokens"]], _choose(told).splitlines()[0]))


def _certain(reply: Callable[[Values], str]) -> Responder:
    """A responder that leaves nothing to chance."""

    def respond(values: Values, _temperature: float, _chance: random.Random) -> str:
        return reply(values)

    return respond


RESPONDERS: dict[str, Responder] = {
    prompts.TRAJECTORY.name: _certain(_trajectory),
    prompts.CHOOSE.name: _certain(_choose),
    prompts.REWRITE.name: _certain(_rewrite),
    prompts.DECOMPOSE.name: _certain(_decompose),
    prompts.DISAMBIGUATE.name: _certain(_disambiguate),
    prompts.ANSWER.name: _certain(_answer),
    prompts.ANSWER_KNOWN.name: _certain(lambda _: "unknown"),
}
"""One entry a prompt."""
