"""What a step is sent: the question it comes from, and the facts alone where a tool has failed."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import StructuredTool
from rebel_world import STEPS, Table, build, scripted

from langgraph_evidence.types import Passage


def sent(model: Any, step: str, question: str) -> Any:
    """The prompt of a step on a question."""
    asked = [call["prompt"] for call in model.calls if STEPS[call["prompt"].name] == step]
    (found,) = [prompt for prompt in asked if prompt.values["question"] == question]
    return found


def test_a_question_is_worded_from_the_one_that_it_comes_from() -> None:
    words = {"Where is her town?": "Where is Austen's town?", "Is it far?": "Is Steventon far?"}
    splits = {
        "Q?": "1. Who wrote Emma?\n2. Where is her town?",
        "Where is Austen's town?": "1. Which town?\n2. Is it far?",
    }
    model = scripted(splits, words=words)
    build(model, [Table({}).tool()]).compile().invoke({"question": "Q?"})
    assert sent(model, "rewrite", "Where is her town?").values["origin"] == "Q?"
    assert sent(model, "rewrite", "Is it far?").values["origin"] == "Where is Austen's town?"


@pytest.mark.parametrize(("breaks", "name"), [(True, "rebel.answer_facts"), (False, "rebel.answer_reply")])
def test_after_a_failed_tool_the_facts_alone_are_asked(breaks: Any, name: Any) -> None:
    def look_up(query: str) -> str:
        if breaks and query == "Q?":
            raise RuntimeError("broken")
        return "so"

    tool = StructuredTool.from_function(look_up, name="lookup", description="Looks up.")
    model = scripted({"Q?": "1. A?"})
    build(model, [tool], depth=1).compile().invoke({"question": "Q?"})
    prompt = sent(model, "answer", "Q?")
    assert prompt.name == name
    assert [fact["answer"] for fact in prompt.values["memory"]] == ["so"]
    assert prompt.values.get("reply") == (None if breaks else "so")


def test_the_evidence_is_each_passage_once_with_the_question_that_found_it_first() -> None:
    passages = {name: Passage(id=name, title=name, text=f"{name} is here.") for name in "ABC"}
    found = {"A?": "AB", "B?": "BC"}

    def search(query: str) -> tuple[str, list[Passage]]:
        return query, [passages[name] for name in found[query]]

    tool = StructuredTool.from_function(
        search, name="search", description="Searches.", response_format="content_and_artifact"
    )
    model = scripted({"Q?": "1. A?\n2. B?"}, recalls={"Q?": "yes"})
    out = build(model, [tool], depth=1).compile().invoke({"question": "Q?"})
    assert [(each["id"], each["query"]) for each in out["evidence"]] == [("A", "A?"), ("B", "A?"), ("C", "B?")]
