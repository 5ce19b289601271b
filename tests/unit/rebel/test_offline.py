"""The offline model in REBEL's steps: what it splits, recalls, picks, fills in and reads."""

import asyncio
import json
from typing import Any

import pytest

from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.offline.nested import parts
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.methods.rebel import RebelSettings, create_rebel, prompts
from langgraph_evidence.methods.rebel.offline import RESPONDERS
from langgraph_evidence.retrieval import retriever_for
from langgraph_evidence.tools import calculator_tool, search_tool
from langgraph_evidence.types import Passage


def ask(prompt: Any, **values: Any) -> str:
    return asyncio.run(LanguageModel("offline", responders=RESPONDERS).ask(prompt, values, parse=str)).text


def fact(question: str, answer: str) -> dict[str, str]:
    return {"question": question, "answer": answer}


def parameter(name: str, meaning: str, kind: str, *, required: bool = True) -> dict[str, Any]:
    return {"name": name, "meaning": meaning, "type": kind, "takes": kind, "required": required}


@pytest.mark.parametrize(
    ("question", "inner", "outer"),
    [
        (
            "What is the currency in the birthplace of Rumi?",
            "What is the birthplace of Rumi?",
            "What is the currency in #1?",
        ),
        (
            "Who won the Nobel Prize in Literature in the year Jane Goodall was born?",
            "In what year was Jane Goodall born?",
            "Who won the Nobel Prize in Literature in #1?",
        ),
        (
            "Who was the President of the United States when Carl Sagan was born?",
            "What is the birthdate of Carl Sagan?",
            "Who was the President of the United States on #1?",
        ),
        (
            "Where was the director of film The Alster Case born?",
            "Who is the director of film The Alster Case?",
            "Where was #1 born?",
        ),
        ("Where did Emma's author live?", "Who is the author of Emma?", "Where did #1 live?"),
    ],
)
def test_a_nested_question_is_split_by_its_structure(question: Any, inner: Any, outer: Any) -> None:
    assert parts(question) == (inner, outer)
    reply = ask(prompts.SPLIT, tools=["Searches."], memory=[], question=question)
    assert reply == f"1. {inner}\n2. {outer} (needs 1)"


def test_every_prompt_has_its_reply() -> None:
    assert set(RESPONDERS) == {prompt.name for prompt in vars(prompts).values() if isinstance(prompt, Prompt)}


@pytest.mark.parametrize("question", ["What is the capital of France?", "Who lived longer, Ada Byron or Kurt Weill?"])
def test_a_plain_question_is_not_split(question: Any) -> None:
    assert ask(prompts.SPLIT, tools=[], memory=[], question=question) == "none"


def test_the_memory_answers_what_its_facts_speak_of() -> None:
    facts = [fact("Who wrote Emma?", "Jane Austen"), fact("Where was Jane Austen born?", "Steventon")]
    assert ask(prompts.RECALL, memory=facts, question="Where was the one who wrote Emma born?") == "yes"
    assert ask(prompts.RECALL, memory=facts, question="What is the currency in Steventon?") == "no"
    assert ask(prompts.RECALL, memory=[], question="What is the currency in Steventon?") == "no"
    assert ask(prompts.ANSWER, memory=facts, question="Where was the one who wrote Emma born?") == "Steventon"
    assert ask(prompts.ANSWER, memory=[], question="Who wrote Emma?") == "unknown"


def test_a_tool_is_picked_by_its_description_and_its_input_filled() -> None:
    tools = ["Searches passages.", "Calculates an arithmetic expression.", "Finds the weather."]
    picked = [
        ask(prompts.PICK_TOOL, tools=tools, memory=[], question=question)
        for question in ("Who wrote Emma?", "What is 3 * 4?", "What is the weather in Rome?")
    ]
    assert picked == ["1", "2", "3"]
    values = {"number": 1, "description": "x", "memory": [], "complaint": ""}
    rows = [("city", "the place", "string"), ("days", "how many", "integer"), ("unit", "of what", "string")]
    place = [parameter(*row, required=row[0] != "unit") for row in rows]
    given = ask(prompts.TOOL_INPUT, parameters=place, question="How warm is it in Rome in 3 days?", **values)
    assert json.loads(given) == {"city": "Rome", "days": 3}


def test_a_subquestion_is_worded_with_the_last_answer() -> None:
    facts = [fact("Who wrote Emma?", "Jane Austen")]
    origin = "Where was the author of Emma born?"
    worded = ask(prompts.WORD, memory=facts, origin=origin, question="Where was she born?")
    assert worded == "Where was Jane Austen born?"


def test_a_run_with_a_tool_and_no_reading() -> None:
    graph = create_rebel("offline", [calculator_tool()], settings=RebelSettings()).compile()
    out = graph.invoke({"question": "What is 17.5 * (3 + 4)?"})
    assert (out["answer"], out["tree"]["0"]["origin"]) == ("122.5", "tool")


CLAIM = 'Is this claim true: "{}" Answer SUPPORTS or REFUTES.'


def test_a_claim_is_looked_up_as_it_stands_and_judged_by_the_passages() -> None:
    asked = CLAIM.format("The author of Emma was born in Steventon.")
    assert ask(prompts.SPLIT, tools=[], memory=[], question=asked) == "none"
    search = [parameter("query", "what to look for", "string")]
    values = {"number": 1, "description": "Searches.", "memory": [], "complaint": "", "parameters": search}
    given = ask(prompts.TOOL_INPUT, question=asked, **values)
    assert json.loads(given) == {"query": "The author of Emma was born in Steventon."}


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Rome is the capital of Italy.", "SUPPORTS"),
        ("Rome is a city in Portugal.", "REFUTES"),
    ],
)
def test_a_verdict_comes_from_the_passage_about_the_claim(claim: str, verdict: str) -> None:
    reply = "(1) Lisbon: Lisbon is a city in Portugal. (a1)\n(2) Rome: Rome is a city in Italy and its capital. (a2)"
    assert ask(prompts.ANSWER_REPLY, memory=[], reply=reply, question=CLAIM.format(claim)) == verdict
    plain = f'Is the statement "{claim}" right?'
    expected = "yes" if verdict == "SUPPORTS" else "no"
    assert ask(prompts.ANSWER_REPLY, memory=[], reply=reply, question=plain) == expected


def test_passages_that_do_not_speak_of_a_claim_decide_nothing() -> None:
    reply = "(1) Tulips: Tulips flower in the weeks of spring. (a1)"
    asked = CLAIM.format("A man is sleeping on a bench.")
    assert ask(prompts.ANSWER_REPLY, memory=[], reply=reply, question=asked) == "unknown"


def test_a_search_that_finds_nothing_is_no_answer() -> None:
    passages = [Passage(id="1", title="Orvik", text="Orvik is a village.")]
    graph = create_rebel("offline", [search_tool(retriever_for(passages))]).compile()
    out = graph.invoke({"question": "zzqq flurb wibble"})
    assert (out["answer"], out["stopped"], out["citations"]) == ("", "no_answer", [])
