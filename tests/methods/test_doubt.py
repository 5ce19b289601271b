"""An answer that the evidence does not support: the run goes on while it may, and else declines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest
import rebel_world
from furepa_world import FIRST, FORCE, QUESTION, FixedScorer, WordRetriever, holds
from trusting import TrustingVerifier

from langgraph_evidence import FurepaSettings, RebelSettings, create_furepa, create_rebel, run
from langgraph_evidence.citations import Checked
from langgraph_evidence.cli.result import OWN_KNOWLEDGE_NOTE, result_lines
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.tools import method
from langgraph_evidence.tools.search import search_tool
from langgraph_evidence.types import Passage


class Needs(TrustingVerifier):
    """Trusts an answer only beside the evidence of these passages."""

    def __init__(self, *needed: str) -> None:
        self.needed = set(needed)

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        held = {passage["id"] for passage in evidence}
        found = super().check(question, answer, evidence)
        return found if self.needed <= held else found._replace(support=0.1)


def hasty(**fields: Any) -> ScriptedChat:
    """Searches once and then always answers."""
    rules: list[Any] = [(FIRST, "[Search] Dhyan Chand brother"), (FORCE, "[Answer] Gwalior")]
    return ScriptedChat(**{"rules": [*rules, (holds(), "[Answer] Gwalior, India")], **fields})


def furepa(model: ScriptedChat, verifier: Any, retriever: Any = None, **values: Any) -> Any:
    settings = FurepaSettings(**{"samples": 2, **values})
    found = retriever or WordRetriever()
    return create_furepa(model, found, settings=settings, query_scorer=FixedScorer({}), verifier=verifier).compile()


def told(graph: Any, kind: str) -> list[dict[str, Any]]:
    return [part for part in graph.stream({"question": QUESTION}, stream_mode="custom") if part["type"] == kind]


def test_furepa_searches_for_what_states_its_answer_and_then_ends() -> None:
    retriever = WordRetriever()
    out = furepa(hasty(), Needs("stadium"), retriever).invoke({"question": QUESTION})
    assert (out["answer"], out["stopped"], out["guess"]) == ("Gwalior, India", "answered", None)
    assert [step["query"] for step in out["steps"]] == ["Dhyan Chand brother", f"{QUESTION} Gwalior, India"]
    assert [passage["id"] for passage in out["evidence"]] == ["chand", "stadium"]


def test_furepa_asks_what_was_proposed_beside_the_answer_first() -> None:
    beside = [(FIRST, "[Search] Dhyan Chand brother"), (FORCE, "[Answer] Gwalior")]
    both = (holds(), ["[Answer] Gwalior, India", "[Answer] Gwalior, India", "[Search] stadium named after Roop Singh"])
    retriever = WordRetriever()
    out = furepa(ScriptedChat(rules=[*beside, both]), Needs("stadium"), retriever, samples=3).invoke(
        {"question": QUESTION}
    )
    assert [step["query"] for step in out["steps"]] == ["Dhyan Chand brother", "stadium named after Roop Singh"]
    assert out["stopped"] == "answered"


def test_furepa_declines_after_its_last_iteration_and_tells_its_doubts() -> None:
    graph = furepa(hasty(), Needs("nowhere"), iterations=3)
    out = graph.invoke({"question": QUESTION})
    assert (out["answer"], out["citations"], out["stopped"]) == ("", [], "unsupported")
    assert out["guess"]["answer"] == "Gwalior, India"
    assert "min_support is 0.28" in out["guess"]["why"]
    assert out["messages"][0].text == ""
    doubts = told(graph, "furepa.doubt")
    assert [doubt["iteration"] for doubt in doubts] == [1]


@pytest.mark.parametrize("limit", range(6, 26))
def test_furepa_in_doubt_ends_within_the_hosts_steps(limit: int) -> None:
    graph = furepa(hasty(), Needs("nowhere"), iterations=50)
    out = graph.invoke({"question": QUESTION}, {"recursion_limit": limit})
    assert out["stopped"] in {"unsupported", "step_limit", "no_evidence"}


def test_the_guess_is_given_where_it_is_asked_for_and_said_to_be_one() -> None:
    out = furepa(hasty(), Needs("nowhere"), iterations=2, if_unsupported="guess").invoke({"question": QUESTION})
    assert (out["answer"], out["stopped"]) == ("Gwalior, India", "unsupported")
    assert out["guess"]["support"] == out["support"] == 0.1
    assert furepa(hasty(), Needs("nowhere"), min_support=0.1).invoke({"question": QUESTION})["stopped"] == "answered"


def rebel(verifier: Any, recall: str, **values: Any) -> Any:
    parts = "1. Who was Dhyan Chand's brother?\n2. Which stadium is named after #1? (needs 1)"
    model = rebel_world.scripted(
        {QUESTION: parts},
        recalls={QUESTION: recall},
        answers={
            "Who was Dhyan Chand's brother?": "Roop Singh",
            "Which stadium is named after Roop Singh?": "the house",
            QUESTION: "Gwalior",
        },
    )
    tools = [search_tool(WordRetriever())]
    return create_rebel(
        model, tools, settings=RebelSettings(**values), features=rebel_world.word_features, verifier=verifier
    ).compile()


def test_rebel_asks_a_tool_about_the_question_itself_once() -> None:
    calls: list[Any] = []

    class Counting(Needs):
        def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
            calls.append(len(evidence))
            return super().check(question, answer, evidence)

    graph = rebel(Counting("nowhere"), "yes")
    doubts = told(graph, "rebel.doubt")
    assert [doubt["answer"] for doubt in doubts] == ["Gwalior"]
    assert len(calls) == 2  # in doubt, and at the end
    out = graph.invoke({"question": QUESTION})
    assert (out["answer"], out["stopped"], out["guess"]["answer"]) == ("", "unsupported", "Gwalior")
    assert out["tree"]["0"]["tool"] == "search"
    trusted = rebel(Needs(), "yes").invoke({"question": QUESTION})
    assert (trusted["answer"], trusted["stopped"], trusted["tree"]["0"]["tool"]) == ("Gwalior", "answered", "")


@pytest.mark.parametrize("limit", range(8, 60, 3))
def test_rebel_in_doubt_ends_within_the_hosts_steps(limit: int) -> None:
    out = rebel(Needs("nowhere"), "yes").invoke({"question": QUESTION}, {"recursion_limit": limit})
    assert out["stopped"] in {"unsupported", "step_limit", "own_knowledge", "no_answer"}


def test_an_answer_that_was_doubted_is_the_guess_where_the_tool_then_fails() -> None:
    class Failing(rebel_world.Table):
        def look_up(self, query: str) -> str:
            if query == rebel_world.ROOT:
                raise ConnectionError("down")
            return super().look_up(query)

    model = rebel_world.scripted(rebel_world.SPLITS, recalls=dict.fromkeys(rebel_world.SPLITS, "yes"))
    tools = [Failing(rebel_world.FACTS).tool()]
    settings = RebelSettings(depth=2)
    graph = create_rebel(
        model, tools, settings=settings, features=rebel_world.word_features, verifier=Needs("nowhere")
    ).compile()
    out = graph.invoke({"question": rebel_world.ROOT})
    assert (out["answer"], out["stopped"], out["guess"]["answer"]) == ("", "unsupported", "12 degrees")


class Late(TrustingVerifier):
    """Raises what a scoring server raises that does not answer in time; it counts its checks."""

    def __init__(self) -> None:
        self.checks = 0

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        self.checks += 1
        raise TimeoutError("read timed out")


def test_furepa_ends_with_a_verifier_that_never_answers_in_time() -> None:
    verifier = Late()
    out = furepa(hasty(), verifier).invoke({"question": QUESTION}, {"recursion_limit": 1000})
    assert (out["answer"], out["stopped"]) == ("", "unsupported")
    assert "read timed out" in out["guess"]["why"]
    assert verifier.checks <= FurepaSettings().iterations + 1


class Hangs(TrustingVerifier):
    """Takes longer than any test."""

    def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
        time.sleep(60)
        raise AssertionError("nobody waits for it")


def test_a_check_that_hangs_ends_with_the_time_that_is_kept_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_CHECK_SECONDS", 0.2)
    started = time.monotonic()
    out = furepa(hasty(), Hangs(), max_seconds=1.0).invoke({"question": QUESTION})
    assert (out["answer"], out["stopped"], out["support"]) == ("", "unsupported", 0.0)
    assert "longer than" in out["guess"]["why"]
    assert time.monotonic() - started < 30


def test_an_answer_without_evidence_is_called_so_where_the_run_was_cut_too() -> None:
    model = rebel_world.splitting()
    tools = [rebel_world.Table({}).tool()]
    settings = RebelSettings(max_calls=6)
    graph = create_rebel(
        model, tools, settings=settings, features=rebel_world.word_features, verifier=TrustingVerifier()
    )
    out = graph.compile().invoke({"question": "Is it warm?"})
    assert (out["answer"], out["stopped"], out["evidence"]) == ("so", "budget", [])
    assert "Without evidence" in method._pack(out)[0]
    assert OWN_KNOWLEDGE_NOTE in [str(line) for line in result_lines(out)]
    assert not any("not supported" in str(line) for line in result_lines(out))
