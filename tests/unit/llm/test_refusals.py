"""Parameters that a server refuses by name: asked again without, remembered, told."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI

from langgraph_evidence.budget import Allowance
from langgraph_evidence.concurrency import node, run_sync
from langgraph_evidence.errors import ModelError
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.loopback import as_reasoning_model, serve
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.llm.refusals import refused_parameter
from langgraph_evidence.llm.testing import ScriptedChat

PROMPT = Prompt("demo", (("human", "Say $word"),), ("word",))
SAID = {"word": "hi"}
EVERY = ["temperature", "seed", "stop", "n", "logprobs", "top_logprobs", "max_tokens"]


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Any:
    return run_sync if request.param == "sync" else asyncio.run


def client(server: Any, **changes: Any) -> Any:
    return ChatOpenAI(model="gpt-5-mini", base_url=server.base_url, api_key="sk-none", **changes)


def script(**fields: Any) -> Any:
    return ScriptedChat(rules=[("", ["a", "b", "c"])], **fields)


def refusing(*names: str, **error: Any) -> Any:
    """A server that refuses these parameters, in words alone where no `param` is given."""

    def refuse(body: Any) -> Any:
        for name in names:
            if name in body and body[name] != 1:
                message = error.get("message", "'{0}' is not supported").format(name)
                return {"error": {"type": "BadRequestError", "code": 400, **error, "message": message}}
        return None

    return refuse


def bad_request(error: Any, status: Any = 400) -> Any:
    response: Any = httpx.Response(status, json={"error": error}, request=httpx.Request("POST", "http://x.invalid"))
    return openai.BadRequestError(f"Error code: {status} - {error}", response=response, body=error)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        # OpenAI and Azure.
        ({"message": "Unsupported value", "param": "temperature", "code": "unsupported_value"}, "temperature"),
        ({"message": "Use it not", "param": "max_completion_tokens", "code": "unsupported_parameter"}, "max_tokens"),
        ({"message": "'stop' is not supported with this model.", "param": None, "code": None}, "stop"),
        ({"message": "Unsupported parameter: 'logprobs' is not supported with this model."}, "logprobs"),
        ({"message": "Unrecognized request argument supplied: seed", "param": None}, None),
        ({"message": "'messages' must contain the word 'json'", "param": "messages"}, None),
        # vLLM.
        ({"message": "n must be 1 when using greedy sampling, got 5.", "param": None}, "n"),
        ({"message": "temperature must be non-negative, got -1.0.", "param": ""}, "temperature"),
        ({"message": "`top_logprobs` are not supported by this engine"}, "top_logprobs"),
        ({"message": "'max_tokens' is too large: 9. This model's maximum context length is 8 tokens"}, None),
        # LiteLLM, llama.cpp, pydantic servers.
        (
            {"message": "openai does not support parameters: ['temperature'], for model=m", "param": "None"},
            "temperature",
        ),
        ({"message": "Only one completion choice is allowed"}, "n"),
        ({"message": "Unsupported param: seed"}, "seed"),
        ({"message": "[{'type': 'extra_forbidden', 'loc': ['body', 'seed'], 'msg': 'Extra inputs'}]"}, "seed"),
        # Words that name none.
        ({"message": "Invalid JSON: line one\\n stop the world"}, None),
        ({"message": "The model `m` does not exist"}, None),
    ],
)
def test_a_parameter_is_recognised_as_servers_name_it(error: Any, name: Any) -> None:
    assert refused_parameter(bad_request(error), EVERY) == name
    assert refused_parameter(bad_request(error), ["top_p"]) is None


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_other_statuses_refuse_no_parameter(status: Any) -> None:
    assert refused_parameter(bad_request({"message": "'seed' is bad", "param": "seed"}, status), EVERY) is None


@pytest.mark.parametrize("name", ["temperature", "seed", "stop"])
@pytest.mark.parametrize("worded", [True, False])
def test_a_refused_parameter_is_left_out_from_then_on(run: Any, name: Any, worded: Any) -> None:
    error = {"param": None} if worded else {"message": "No.", "param": name}
    with serve(script(), refuse=refusing(name, **error)) as server:
        model = LanguageModel(client(server))
        values: dict[str, Any] = {"temperature": 0.2, "seed": 5, "stop": ["x"]}
        reply = run(model.ask(PROMPT, SAID, parse=str, **values))
        assert (reply.usage["calls"], len(server.arrivals)) == (1, 2)
        assert (run(model.ask(PROMPT, SAID, parse=str, **values))).usage["calls"] == 1
        sent = [{key for key in values if key in arrival["body"]} for arrival in server.arrivals]
        assert sent == [set(values), set(values) - {name}, set(values) - {name}]


def test_the_rules_of_reasoning_models_are_learned_one_by_one(run: Any) -> None:
    with serve(script(), refuse=as_reasoning_model) as server:
        model = LanguageModel(client(server))
        samples = run(model.sample(PROMPT, SAID, n=1, temperature=0.2, stop=["x"], logprobs=True, max_tokens=4))
        assert (samples[0].text, samples[0].logprobs, samples[0].usage["calls"]) == ("a", None, 1)
        assert len(server.arrivals) == 4
        assert run(model.ask(PROMPT, SAID, parse=str, temperature=1)).value == "a"


def test_what_the_user_bound_is_not_taken_away(run: Any) -> None:
    with serve(script(), refuse=as_reasoning_model) as server:
        bound = client(server).bind(temperature=1)
        assert run(LanguageModel(bound).ask(PROMPT, SAID, parse=str, temperature=0.2)).usage["calls"] == 1
        with pytest.raises(ModelError, match=r"'temperature' does not support 0\.5"):
            run(LanguageModel(client(server).bind(temperature=0.5)).ask(PROMPT, SAID, parse=str))


@pytest.mark.parametrize("message", ["Only one completion choice is allowed", "n must be 1, got 3."])
@pytest.mark.parametrize(("calls", "texts"), [(None, "abc"), (9, "abc"), (3, "abc")])
def test_without_n_samples_are_drawn_singly(run: Any, message: Any, calls: Any, texts: Any) -> None:
    with serve(script(), refuse=refusing("n", message=message)) as server:
        model = LanguageModel(client(server))
        more: dict[str, Any] = {"seeds": [0, 1, 2], "native": True, "allowance": Allowance(calls=calls)}
        samples = run(model.sample(PROMPT, SAID, n=3, **more))
        assert "".join(sample.text for sample in samples) == texts
        assert (sum(sample.usage["calls"] for sample in samples), len(server.arrivals)) == (3, 4)
        again = run(model.sample(PROMPT, SAID, n=3, **more))
        assert "".join(sample.text for sample in again) == "abc"
        assert len(server.arrivals) == 4 + 3


def test_first_calls_at_the_same_time_learn_once_each(run: Any) -> None:
    with serve(script(latency=0.02), refuse=as_reasoning_model) as server:
        model = LanguageModel(client(server))
        samples = run(model.sample(PROMPT, SAID, n=5, temperature=0.2))
        assert [sample.error for sample in samples] == [None] * 5
        assert 6 <= len(server.arrivals) <= 10
        before = len(server.arrivals)
        run(model.sample(PROMPT, SAID, n=5, temperature=0.2))
        assert len(server.arrivals) == before + 5


def test_threads_learn_without_harm() -> None:
    with serve(script(), refuse=as_reasoning_model) as server:
        model = LanguageModel(client(server))
        texts: list[str] = []

        def ask() -> None:
            texts.append(run_sync(model.ask(PROMPT, SAID, parse=str, temperature=0.2, stop=["x"])).value)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        assert texts == ["a"] * 6


def test_a_refusal_is_no_call_of_an_allowance(run: Any) -> None:
    """It reached no model: one call is enough for a model that refuses three parameters first."""
    with serve(script(), refuse=as_reasoning_model) as server:
        model = LanguageModel(client(server))
        more: dict[str, Any] = {"temperature": 0.2, "stop": ["x"], "allowance": Allowance(calls=1)}
        reply = run(model.ask(PROMPT, SAID, parse=str, **more))
        assert (reply.value, reply.usage["calls"], len(server.arrivals)) == ("a", 1, 3)


def test_a_400_that_has_other_reasons_ends_the_call_and_teaches_nothing(run: Any) -> None:
    def refuse(_: Any) -> Any:
        return {"error": {"message": "'temperature' was in the prompt, and the model `m` is not loaded"}}

    with serve(script(), refuse=refuse) as server:
        model = LanguageModel(client(server))
        for _ in range(2):
            with pytest.raises(ModelError, match="HTTP 400"):
                run(model.ask(PROMPT, SAID, parse=str, temperature=0.2))
        assert ["temperature" in arrival["body"] for arrival in server.arrivals] == [True, False] * 2


def test_a_refusal_is_told_once_in_an_event(run: Any) -> None:
    from langgraph.graph import END, START, StateGraph
    from typing_extensions import TypedDict

    class State(TypedDict, total=False):
        word: str

    with serve(script(), refuse=as_reasoning_model) as server:
        model = LanguageModel(client(server))

        async def body(state: State) -> State:
            await model.sample(PROMPT, SAID, n=3, temperature=0.2)
            return state

        builder = StateGraph(State)
        builder.add_node("body", node(body))
        builder.add_edge(START, "body")
        builder.add_edge("body", END)
        graph = builder.compile()
        (event,) = graph.stream({"word": "hi"}, stream_mode="custom")
        assert (event["type"], event["parameter"]) == ("llm.parameter_refused", "temperature")
        assert event["model"] == model.name
        assert "Only the default (1) value" in event["reason"]
        assert list(graph.stream({"word": "hi"}, stream_mode="custom")) == []
