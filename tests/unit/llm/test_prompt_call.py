"""A prompt's name and values come with the call to a model that reads them, and to no other."""

from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import InvalidInput, UnusableReply
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.offline import OfflineChat
from langgraph_evidence.llm.prompt import Prompt, PromptCall
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat

PROMPT = Prompt(
    "toy.ask",
    (("system", "You reply."), ("human", "Facts:\n$facts\nQ: $question")),
    ("facts", "question"),
    shown={"facts": "\n".join},
)
VALUES: dict[str, Any] = {"facts": ["a is b", "b is c"], "question": "Is a c?"}
CALL = PromptCall("toy.ask", VALUES)


class Deaf(ScriptedChat):
    """It sees text alone, as any language model."""

    reads_prompts: ClassVar[bool] = False


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Any:
    return run_sync if request.param == "sync" else asyncio.run


def asked(chat: Any) -> list[Any]:
    return [call["prompt"] for call in chat.calls]


def test_values_are_shown_as_the_prompt_says() -> None:
    assert PROMPT.render(**VALUES)[1].text == "Facts:\na is b\nb is c\nQ: Is a c?"
    with pytest.raises(InvalidInput, match=r"was given a list for \$question"):
        PROMPT.render(facts=[], question=[])


@pytest.mark.parametrize("bound", [False, True])
def test_a_model_that_reads_prompts_gets_them_with_every_call(run: Any, bound: Any) -> None:
    chat = ScriptedChat(rules=[("", "x")])
    given: Any = chat.bind(temperature=0.5).with_config(tags=["mine"]) if bound else chat
    model = LanguageModel(given)
    run(model.ask(PROMPT, VALUES, parse=str))
    run(model.sample(PROMPT, VALUES, n=2))
    run(model.sample(PROMPT, VALUES, n=2, native=True))
    assert asked(chat) == [CALL] * 4
    assert all("prompt" not in call["kwargs"] for call in chat.calls)
    assert json.loads(json.dumps(asked(chat)[0].values)) == VALUES


def test_the_repair_says_what_was_wrong(run: Any) -> None:
    def parse(text: Any) -> Any:
        if text != "good":
            raise UnusableReply("Say good.", reply=text)
        return text

    rules = [(Asks("toy.*", lambda call: call.complaint == "Say good."), "good"), (Asks("toy.ask"), "bad")]
    chat = ScriptedChat(rules=rules)
    assert run(LanguageModel(chat).ask(PROMPT, VALUES, parse=parse)).usage["calls"] == 2
    assert asked(chat) == [CALL, PromptCall("toy.ask", VALUES, "Say good.")]


def test_other_models_see_text_alone(run: Any) -> None:
    chat = Deaf(rules=[(Asks("toy.*"), "by name"), ("Is a c", "by words")])
    assert run(LanguageModel(chat).ask(PROMPT, VALUES, parse=str)).text == "by words"
    assert asked(chat) == [None]
    assert "prompt" not in chat.calls[0]["kwargs"]


def test_scripts_reply_to_names_and_values() -> None:
    rules: list[Any] = [
        (Asks("toy.other"), "no"),
        (Asks("toy.ask", lambda call: len(call.values["facts"]) > 2), "many"),
        (Asks("toy.*"), lambda call, index: f"{call.values['question']} {index}"),
    ]
    chat = ScriptedChat(rules=rules, faults=[{"match": Asks("toy.ask"), "garbage": "%%"}])
    model = LanguageModel(chat)
    texts = [run_sync(model.ask(PROMPT, VALUES, parse=str, seed=seed)).text for seed in (0, 4)]
    assert texts == ["%%", "Is a c? 4"]
    with pytest.raises(InvalidInput, match=r"this prompt, toy\.ask:"):
        run_sync(LanguageModel(ScriptedChat(rules=rules[:1])).ask(PROMPT, VALUES, parse=str))


@pytest.mark.parametrize("named", [True, False])
def test_the_offline_model_replies_by_the_responders_that_a_method_hands_over(run: Any, named: Any) -> None:
    responders = {"toy.ask": lambda values, temperature, rng: f"{len(values['facts'])} facts"}
    offline: Any = "offline" if named else OfflineChat().bind(seed=3)
    assert run(LanguageModel(offline, responders=responders).ask(PROMPT, VALUES, parse=str)).text == "2 facts"
    assert "offline model" in run(LanguageModel(offline).ask(PROMPT, VALUES, parse=str)).text


def test_the_users_own_responders_win(run: Any) -> None:
    mine = OfflineChat(responders={"toy.ask": lambda *_: "mine"})
    theirs = {"toy.ask": lambda *_: "theirs"}
    assert run(LanguageModel(mine, responders=theirs).ask(PROMPT, VALUES, parse=str)).text == "mine"


@pytest.mark.parametrize("kind", [ScriptedChat, Deaf])
@pytest.mark.parametrize("named", [None, "users"])
def test_traces_know_the_prompt_by_its_name(run: Any, kind: Any, named: Any) -> None:
    class Trace(BaseCallbackHandler):
        seen: list[Any] = []  # noqa: RUF012 - one list for one test

        def on_chat_model_start(self, *_: Any, **kwargs: Any) -> None:
            self.seen.append((kwargs["name"], kwargs["metadata"]["prompt"]))

    config: Any = {"callbacks": [Trace()], **({"run_name": named} if named else {})}
    chat = kind(rules=[("", "x")]).with_config(config)
    Trace.seen.clear()
    run(LanguageModel(chat).ask(PROMPT, VALUES, parse=str))
    run(LanguageModel(chat).sample(PROMPT, VALUES, n=1))
    assert Trace.seen == [(named or "toy.ask", "toy.ask")] * 2
