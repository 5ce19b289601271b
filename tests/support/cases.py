"""What the conformance suite has to be told of a method: a model, passages, a question and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import furepa_world
import rebel_world
import rq_rag_world
from furepa_world import FixedScorer, WordRetriever
from toy import ToySettings, create_toy, events, offline, telling
from toy import prompts as toy_prompts
from trusting import TrustingVerifier, trusting

from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods import Components, Method, get_method

Passages = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Case:
    """One method in a small world.

    Args:
        method: Its entry.
        question: What it is asked; every event of the method is sent on the way.
        answer: What it answers.
        script: Makes the model that finds the answer; takes fields of ScriptedChat.
        endless: Makes one that finds no end where the method has a loop, and still answers when it is asked to.
        passages: What is searched, title and text by id.
        first_end: Super-steps of the shortest run, which ends as soon as it has begun.
        fragments: What fuzzed replies are made of: pieces of the method's protocol.
        local: Local models in the place of the default ones.
        values: Settings that keep the run small.
        unending: Settings under which the endless model finds no end.
    """

    method: Method
    question: str
    answer: str
    script: Callable[..., ScriptedChat]
    endless: Callable[..., ScriptedChat]
    passages: Passages
    first_end: int
    fragments: tuple[str, ...]
    local: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    unending: Mapping[str, Any] = field(default_factory=dict)

    def given(self, question: str = "") -> dict[str, str]:
        """The input of a run."""
        return {self.method.input_key: question or self.question}

    def checked_by(self, verifier: Any = None) -> Case:
        """The same case whose answers another verifier checks; without one the process's own."""
        others = {name: part for name, part in self.local.items() if name != "verifier"}
        return replace(self, local=others if verifier is None else {**others, "verifier": verifier})

    def builder(self, model: Any = None, retriever: Any = None, **values: Any) -> Any:
        """The graph, not compiled."""
        found = retriever or WordRetriever(passages=dict(self.passages))
        parts = Components(model or self.script(), found, local=self.local)
        return self.method.create(parts, self.method.settings(**{**self.values, **values}))

    def graph(self, model: Any = None, retriever: Any = None, **values: Any) -> Any:
        """The graph without a saver."""
        return self.builder(model, retriever, **values).compile()


def _asking(**fields: Any) -> ScriptedChat:
    """Plans that search for something else each time; a forced one answers."""
    rules = [
        (furepa_world.FORCE, "[Answer] Gwalior"),
        (Asks("furepa.*"), lambda _call, seed: f"[Search] Dhyan Chand {seed}"),
    ]
    return ScriptedChat(**{"rules": rules, **fields})


def _two_ways(**fields: Any) -> ScriptedChat:
    """The script of the world, with two queries in the first round so that they have to be scored."""
    first = (furepa_world.FIRST, ["[Search] Dhyan Chand brother", "[Search] Who is Dhyan Chand, and his brother?"])
    return furepa_world.scripted(**{"rules": [first, *furepa_world.script()[1:]], **fields})


def furepa() -> Case:
    """FuRePA: two hops."""
    return Case(
        method=get_method("furepa"),
        question=furepa_world.QUESTION,
        answer="Gwalior, India",
        script=_two_ways,
        endless=_asking,
        passages=furepa_world.PASSAGES,
        first_end=4,
        fragments=(
            "[Answer]",
            "[Search]",
            "[Analysis]",
            "[answer] 42",
            "** [Search] ** q",
            "1. [Answer] a",
        ),
        local={"query_scorer": FixedScorer({"brother": 0.9}), "verifier": TrustingVerifier()},
        values={"samples": 2},
        unending={"iterations": 50, "eps": 0.0},
    )


WARM = "How warm is it where Jane Austen was born?"
BORN, THERE = "Where was Jane Austen born?", "How warm is it in Steventon?"


def rebel() -> Case:
    """REBEL: two sub-questions, the second with the first one's answer."""
    return Case(
        method=get_method("rebel"),
        question=WARM,
        answer="12 degrees",
        script=partial(
            rebel_world.scripted,
            {WARM: f"1. {BORN}\n2. How warm is it in #1? (needs 1)"},
            recalls={WARM: "yes"},
            answers={BORN: "Steventon", THERE: "12 degrees"},
        ),
        endless=rebel_world.splitting,
        passages={
            "austen": ("Jane Austen", "Jane Austen was born in Steventon."),
            "steventon": ("Steventon", "It is 12 degrees in Steventon."),
        },
        first_end=3,
        fragments=("yes", "no", "none", "1", "1. A?", "2. Is it #1? (needs 1)", '{"query": "x"}', '{"nope": 1}', "#1"),
        local={"features": rebel_world.word_features, "verifier": TrustingVerifier()},
        values={"depth": 1},
        unending={"depth": 9, "max_nodes": 500, "near": 1.0, "parallel": False},
    )


def _toy_script(**fields: Any) -> ScriptedChat:
    rules = [(Asks(toy_prompts.ASK.name), "Jane Austen born"), (Asks(toy_prompts.ANSWER.name), "Steventon")]
    return ScriptedChat(**{"rules": rules, **fields})


TOY = Method(
    name="toy",
    paper="Toy: one search, one answer",
    settings=ToySettings,
    create=lambda parts, settings: create_toy(parts.model, parts.retriever, settings=settings, **parts.local),
    local_models={"verifier": lambda: trusting},
    events=events.SCHEMAS,
    tell=telling.TELLERS,
    responders=offline.RESPONDERS,
)


def toy() -> Case:
    """The toy: one hop, no loop."""
    return Case(
        method=TOY,
        question=BORN,
        answer="Steventon",
        script=_toy_script,
        endless=_toy_script,
        passages=rebel().passages,
        first_end=4,
        fragments=("Steventon", "yes", "Answer:"),
        local={"verifier": TrustingVerifier()},
    )


def rq_rag() -> Case:
    """RQ-RAG: two hops, prompted."""
    return Case(
        method=get_method("rq_rag"),
        question=furepa_world.QUESTION,
        answer="Gwalior, India",
        script=rq_rag_world.scripted,
        endless=rq_rag_world.searching,
        passages=furepa_world.PASSAGES,
        first_end=4,
        fragments=("answer", "rewrite", "decompose", "disambiguate", "Retrieval Necessity: yes", "Query: x", "1. Who?"),
        local={"verifier": TrustingVerifier()},
        unending={"depth": 16},
    )


CASES: dict[str, Callable[[], Case]] = {"furepa": furepa, "rebel": rebel, "rq_rag": rq_rag, "toy": toy}
"""One entry a method of the registry, and the toy."""
