"""An answer is given where its evidence supports it, else declined: nothing ends "answered" that nothing proves."""

from __future__ import annotations

from typing import Any

import pytest
from cases import Case
from furepa_world import WordRetriever
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from trusting import DoubtingVerifier, FailingVerifier

from langgraph_evidence import models
from langgraph_evidence.citations import Guess
from langgraph_evidence.errors import MissingExtra
from langgraph_evidence.run import Answered
from langgraph_evidence.tools import as_chat, as_tool

CONFIG: Any = {"configurable": {"thread_id": "1"}}


def declining(case: Case, **values: Any) -> Any:
    return case.checked_by(DoubtingVerifier(0.25)).graph(**values)


def quoted_in_place(output: dict[str, Any], found: Any, answer: str) -> None:
    """Every quote stands in its passage letter for letter; every span is one of the answer's."""
    passages = {passage["id"]: passage for passage in output["evidence"]}
    for quote in [*found["citations"], *found["conflicts"]]:
        passage = passages[quote["passage_id"]]
        assert passage["text"][quote["quote_start"] : quote["quote_end"]] == quote["quote"] != ""
        assert quote["title"] == passage["title"]
    for span in [*found["citations"], *found["conflicts"], *found["sentences"]]:
        assert answer[span["start"] : span["end"]].strip()
        assert 0 <= span["start"] < span["end"] <= len(answer)


def without_messages(output: dict[str, Any]) -> dict[str, Any]:
    """What two runs of one question have in common; the seconds they took are their own."""
    usage = {**output["usage"], "seconds": 0.0}
    return {**{key: value for key, value in output.items() if key != "messages"}, "usage": usage}


def test_an_answer_that_is_supported_is_given_with_its_proof(case: Case) -> None:
    output = case.graph().invoke(case.given())
    assert (output["answer"], output["stopped"], output["guess"]) == (case.answer, "answered", None)
    assert (output["support"], output["cited_by"], output["conflicts"]) == (1.0, "verified", [])
    assert [sentence["verdict"] for sentence in output["sentences"]] == ["supported"]
    quoted_in_place(output, output, output["answer"])


def test_below_min_support_it_declines_and_keeps_the_guess_apart(case: Case) -> None:
    *_, told = declining(case).stream(case.given(), stream_mode="custom")
    output = declining(case).invoke(case.given())
    assert (output["answer"], output["stopped"], output["support"]) == ("", "unsupported", 0.25)
    assert (output["citations"], output["sentences"], output["conflicts"]) == ([], [], [])
    assert set(output["guess"]) == set(Guess.__annotations__)
    assert (bool(output["guess"]["answer"]), output["guess"]["support"]) == (True, 0.25)
    assert output["guess"]["citations"]
    assert output["guess"]["sentences"]
    least = case.method.settings().min_support
    assert f"by 0.25; min_support is {least:.2f}" in output["guess"]["why"]
    quoted_in_place(output, output["guess"], output["guess"]["answer"])
    assert [message.text for message in output["messages"]] == [""]
    assert {key: told[key] for key in Answered.__annotations__ if key != "usage"} == {
        key: output[key] for key in Answered.__annotations__ if key != "usage"
    }


def test_a_host_may_ask_for_the_guess_and_is_still_told_what_it_is(case: Case) -> None:
    output = declining(case, if_unsupported="guess").invoke(case.given())
    assert (bool(output["answer"]), output["stopped"]) == (True, "unsupported")
    assert output["answer"] == output["guess"]["answer"] == output["messages"][0].text
    assert output["citations"] == output["guess"]["citations"] != []
    quoted_in_place(output, output, output["answer"])


@pytest.mark.parametrize(("least", "stopped"), [(0.0, "answered"), (0.25, "answered"), (0.26, "unsupported")])
def test_min_support_is_the_support_from_which_an_answer_is_given(case: Case, least: float, stopped: str) -> None:
    output = declining(case, min_support=least).invoke(case.given())
    assert output["stopped"] == stopped
    assert bool(output["answer"]) is (stopped == "answered") is (output["guess"] is None)


def test_lexical_citations_say_what_they_are_and_load_no_model(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "default_verifier", no_torch)
    for min_support in (0.5, 1.0):
        graph = case.checked_by().graph(citations="lexical", min_support=min_support)
        output = graph.invoke(case.given())
        assert (output["answer"], output["stopped"], output["cited_by"]) == (case.answer, "answered", "lexical")
        assert output["citations"]
        assert output["conflicts"] == []
        quoted_in_place(output, output, output["answer"])


def test_a_verifier_that_fails_makes_the_answer_a_guess_with_the_reason(case: Case) -> None:
    output = case.checked_by(FailingVerifier()).graph().invoke(case.given())
    assert (output["answer"], output["stopped"], output["support"]) == ("", "unsupported", 0.0)
    assert output["guess"]["answer"]
    assert output["guess"]["why"].endswith("The scoring server does not answer.")


def no_torch() -> Any:
    raise MissingExtra('Local models need the extra "local".')


def test_a_host_without_the_local_models_is_told_before_any_call_is_paid_for(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "default_verifier", no_torch)
    model = case.script()
    with pytest.raises(MissingExtra, match="local"):
        case.checked_by().graph(model).invoke(case.given())
    assert not model.calls


@pytest.mark.parametrize("values", [{}, {"min_support": 0.0}, {"citations": "lexical"}, {"if_unsupported": "guess"}])
def test_without_evidence_nothing_ends_answered(case: Case, values: dict[str, Any]) -> None:
    for model in (case.script(), case.endless(), "offline"):
        output = case.graph(model, WordRetriever(passages={}), **values).invoke(case.given())
        assert output["evidence"] == output["citations"] == []
        assert output["stopped"] != "answered"
        assert not output["answer"] or output["stopped"] in {"own_knowledge", "unsupported", "budget", "step_limit"}


def test_an_answer_put_in_by_hand_without_evidence_is_the_models_own_only_where_the_method_allows_it(
    case: Case,
) -> None:
    graph = case.builder().compile(checkpointer=InMemorySaver(), interrupt_after=["begin"])
    graph.invoke(case.given(), CONFIG)
    last = next(node for node in ("force_answer", "answer") if node in graph.nodes)
    output = graph.invoke(None, graph.update_state(CONFIG, {"answer": "By hand"}, as_node=last))
    allowed = (
        {"unsupported"} if case.method.name not in {"rebel", "rq_rag"} else {"own_knowledge", "no_answer", "answered"}
    )
    assert output["stopped"] in allowed
    assert output["evidence"] or output["stopped"] != "answered"


async def test_every_way_to_run_declines_alike(case: Case) -> None:
    given, keys = case.given(), set(case.graph().output_channels)
    outputs = [declining(case).invoke(given), await declining(case).ainvoke(given)]
    outputs.append(list(declining(case).stream(given, stream_mode="values"))[-1])
    outputs.append([part async for part in declining(case).astream(given, stream_mode="values")][-1])
    first, *others = [without_messages({key: output[key] for key in keys}) for output in outputs]
    assert first["stopped"] == "unsupported"
    assert others == [first] * len(others)


def test_stopped_before_every_node_and_resumed_it_declines_alike(case: Case) -> None:
    whole = case.script()
    output = case.checked_by(DoubtingVerifier()).graph(whole).invoke(case.given())
    model = case.script()
    builder = case.checked_by(DoubtingVerifier()).builder(model)
    graph = builder.compile(checkpointer=InMemorySaver(), interrupt_before=list(builder.nodes))
    graph.invoke(case.given(), CONFIG)
    while graph.get_state(CONFIG).next:
        graph.invoke(None, CONFIG)
    values = graph.get_state(CONFIG).values
    assert without_messages({key: values[key] for key in graph.output_channels}) == without_messages(output)
    assert len(model.calls) == len(whole.calls)


def test_a_question_that_is_asked_again_on_a_thread_keeps_no_guess(case: Case) -> None:
    saver = InMemorySaver()
    case.checked_by(DoubtingVerifier()).builder().compile(checkpointer=saver).invoke(case.given(), CONFIG)
    output = case.builder().compile(checkpointer=saver).invoke(case.given(), CONFIG)
    assert (output["answer"], output["guess"]) == (case.answer, None)


async def test_an_agents_model_is_not_handed_the_guess_unless_it_was_asked_for(case: Case) -> None:
    call = {"type": "tool_call", "id": "1", "name": case.method.name, "args": case.given()}
    guess = declining(case).invoke(case.given())["guess"]["answer"]
    for asked in (False, True):
        graph = declining(case, if_unsupported="guess" if asked else "decline")
        tool = as_tool(graph, name=case.method.name, description="Answers.")
        for message in (tool.invoke(call), await tool.ainvoke(call)):
            assert (guess in message.content) is asked
            assert message.content.startswith("Unverified guess: " if asked else "No answer is given: ")
            assert message.artifact["guess"]["answer"] == guess
        reply = as_chat(graph).compile().invoke({"messages": [HumanMessage(case.question)]})["messages"][-1]
        assert (guess in reply.text) is asked
        assert "Unverified" in reply.text if asked else "does not support" in reply.text
