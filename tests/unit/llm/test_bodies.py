"""An HTTP 200 whose body is no reply is asked for again; odd usage loses nothing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from furepa_world import QUESTION, FixedScorer, WordRetriever
from langchain_openai import ChatOpenAI
from trusting import trusting

from langgraph_evidence import FurepaSettings
from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import ModelError
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.loopback import serve
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.llm.retry import RetryPolicy
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods.furepa.graph import Furepa

PROMPT = Prompt("demo", (("human", "Say $word"),), ("word",))
SAID = {"word": "hi"}


def completion(*messages: Any, usage: Any = None, **more: Any) -> str:
    choices = [{"index": index, "message": message, "finish_reason": "stop"} for index, message in enumerate(messages)]
    head = {"id": "x", "object": "chat.completion", "created": 0, "model": "tiny"}
    return json.dumps({**head, "choices": choices, "usage": usage, **more})


def said(text: Any) -> Any:
    return {"role": "assistant", "content": text}


BAD = {
    "cut": '{"id": "x", "choices": [{"index": 0, "message": {"ro',
    "no json": "{not json",
    "html": "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
    "empty object": "{}",
    "list": "[1, 2]",
    "no choices": completion(),
    "null choices": completion(choices=None),
    "odd choices": completion(choices="many"),
    "choices of null": completion(choices=[None]),
    "error": json.dumps({"error": {"code": 503, "message": "overloaded"}}),
    "worded error": json.dumps({"error": "full"}),
    "error beside choices": completion(said("x"), error={"code": "503"}),
    "null message": completion(None),
    "null content": completion(said(None)),
    "odd content": completion(said(7)),
    "no role": completion({"content": "x"}),
}
USAGES = {
    "null": None,
    "text": "many",
    "list": [1],
    "null counts": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
    "words": {"prompt_tokens": "many", "completion_tokens": "few"},
    "negative": {"prompt_tokens": -3, "completion_tokens": -1, "total_tokens": -4},
    "odd details": {"prompt_tokens": "3", "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": "x"}},
    "details of a list": {"prompt_tokens": 3, "completion_tokens": 2.0, "completion_tokens_details": [1]},
    "one count": {"completion_tokens": 2},
}
READ = {"odd details": (3, 2), "details of a list": (3, 2), "one count": (0, 2)}


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Any:
    return run_sync if request.param == "sync" else asyncio.run


def client(server: Any) -> Any:
    return ChatOpenAI(model="tiny", base_url=server.base_url, api_key="sk-none")


def impatient(server: Any, attempts: int) -> LanguageModel:
    """It waits next to nothing between tries."""
    model = LanguageModel(client(server))
    model._policy = RetryPolicy(attempts=attempts, first_wait=0.01)
    return model


def script(body: str, times: int | None) -> ScriptedChat:
    return ScriptedChat(rules=[("", ["a", "b", "c"])], faults=[{"body": body, "times": times}])


@pytest.mark.parametrize("form", BAD)
def test_a_bad_body_is_asked_for_again_and_ends_as_a_model_error(run: Any, form: str) -> None:
    with serve(script(BAD[form], 1)) as server:
        reply = run(impatient(server, 2).ask(PROMPT, SAID, parse=str))
        assert (reply.value, reply.usage["calls"], len(server.arrivals)) == ("a", 2, 2)
    with serve(script(BAD[form], None)) as server:
        with pytest.raises(ModelError, match=r"ChatOpenAI 'tiny'.*failed after 2 tries: .") as caught:
            run(impatient(server, 2).ask(PROMPT, SAID, parse=str))
        assert caught.value.transient
        assert len(server.arrivals) == 2


@pytest.mark.parametrize("form", BAD)
def test_one_lost_sample_is_no_lost_run(form: str) -> None:
    chat = ScriptedChat(
        rules=[
            ("in Gwalior, India", "[Analysis] r\n[Answer] Gwalior"),
            ("brother was Roop", "[Search] stadium named after Roop Singh"),
            ("", "[Search] Dhyan Chand brother"),
        ],
        faults=[{"body": BAD[form], "times": 1}],
    )
    with serve(chat) as server:
        model = LanguageModel(client(server), attempts=1)
        graph = Furepa(FurepaSettings(samples=3), trusting, model, WordRetriever(), FixedScorer({})).graph().compile()
        out = graph.invoke({"question": QUESTION})
    assert (out["answer"], out["stopped"]) == ("Gwalior", "answered")
    assert [plan["kind"] for plan in out["plans"].values()].count("failed") == 1


@pytest.mark.parametrize("form", USAGES)
def test_odd_usage_loses_no_reply(run: Any, form: str) -> None:
    with serve(script(completion(said("fine"), usage=USAGES[form]), None)) as server:
        model = LanguageModel(client(server), attempts=1)
        reply = run(model.ask(PROMPT, SAID, parse=str))
        (sample,) = run(model.sample(PROMPT, SAID, n=1))
    for found in (reply, sample):
        assert found.text == "fine"
        assert (found.usage["input_tokens"], found.usage["output_tokens"]) == READ.get(form, (0, 0))


@pytest.mark.parametrize("lost", [None, said(None)])
def test_a_choice_that_says_nothing_is_drawn_again(run: Any, lost: Any) -> None:
    with serve(script(completion(said("x"), lost, said("z")), 1)) as server:
        samples = run(impatient(server, 2).sample(PROMPT, SAID, n=3, seeds=[0, 1, 2], native=True))
        assert [sample.text for sample in samples] == ["x", "z", "c"]
        assert len(server.arrivals) == 2


@pytest.mark.parametrize(
    "message", [{**said(None), "refusal": "I will not."}, said(""), {**said(None), "reasoning": "h"}]
)
def test_an_empty_reply_is_a_reply(run: Any, message: Any) -> None:
    with serve(script(completion(message), None)) as server:
        assert run(impatient(server, 2).ask(PROMPT, SAID, parse=str)).text == ""
        assert len(server.arrivals) == 1


@pytest.mark.parametrize("code", [401, 404])
def test_an_error_of_the_caller_in_a_body_is_not_asked_again(run: Any, code: int) -> None:
    with serve(script(json.dumps({"error": {"code": code, "message": "no"}}), None)) as server:
        with pytest.raises(ModelError) as caught:
            run(impatient(server, 2).ask(PROMPT, SAID, parse=str))
        assert (caught.value.status, caught.value.transient, len(server.arrivals)) == (code, False, 1)


@pytest.mark.parametrize("logprobs", ["odd", {"content": 3}, {"tokens": ["a"]}])
def test_odd_log_probabilities_are_none(run: Any, logprobs: Any) -> None:
    body = json.loads(completion(said("x")))
    body["choices"][0]["logprobs"] = logprobs
    with serve(script(json.dumps(body), None)) as server:
        (sample,) = run(LanguageModel(client(server), attempts=1).sample(PROMPT, SAID, n=1, logprobs=True))
    assert (sample.text, sample.logprobs) == ("x", None)


def test_the_callers_client_is_not_changed() -> None:
    with serve(script("[1]", 0)) as server:
        chat = client(server)
        model = LanguageModel(chat)
        assert type(chat) is ChatOpenAI
        assert run_sync(model.ask(PROMPT, SAID, parse=str)).text == "a"
        assert model.name.startswith("ChatOpenAI 'tiny'")
