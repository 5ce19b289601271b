"""Runs at the same time, of one graph and of several, that must each find their own: questions, contexts, corpora."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from furepa_world import FIRST, FixedScorer, WordRetriever
from langgraph.checkpoint.memory import InMemorySaver
from rebel_world import Table, word_features
from rebel_world import scripted as rebel_model

from langgraph_evidence import FurepaSettings, create_furepa
from langgraph_evidence.llm.scripts import Asks
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods.rebel import RebelSettings, create_rebel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph_evidence.llm.prompt import PromptCall

NAMES = "Arjun Bela Chandra Divya Esha Farid Gita Hari".split()
Job = tuple[Any, dict[str, Any], dict[str, Any]]
"""A compiled graph, its input, and what else its run is called with."""


def in_threads(jobs: list[Job]) -> list[dict[str, Any]]:
    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(lambda job: job[0].invoke(job[1], **job[2]), jobs))


def in_tasks(jobs: list[Job]) -> list[dict[str, Any]]:
    async def all_of_them() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(graph.ainvoke(given, **more) for graph, given, more in jobs)))

    return asyncio.run(all_of_them())


def streamed_in_threads(jobs: list[Job]) -> list[list[dict[str, Any]]]:
    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(lambda job: list(job[0].stream(job[1], stream_mode="custom", **job[2])), jobs))


def streamed_in_tasks(jobs: list[Job]) -> list[list[dict[str, Any]]]:
    async def one(job: Job) -> list[dict[str, Any]]:
        return [event async for event in job[0].astream(job[1], stream_mode="custom", **job[2])]

    async def all_of_them() -> list[list[dict[str, Any]]]:
        return list(await asyncio.gather(*map(one, jobs)))

    return asyncio.run(all_of_them())


def ways(*functions: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("together", functions)


# FuRePA: the ground of each name lies in a town of its own, which only its passage tells.

GROUNDS = {name: (f"{name} ground", f"The ground of {name} is in {name}pur.") for name in NAMES}


def asked(name: str) -> dict[str, Any]:
    return {"question": f"Where is the ground of {name}?"}


def reads(call: PromptCall, _seed: int) -> str:
    """The last word of the evidence."""
    line = call.values["context"][-1]
    return f"[Analysis] {line}\n[Answer] {line.rstrip('.').split()[-1]}"


def searches(call: PromptCall, _seed: int) -> str:
    return f"[Search] {call.values['question'].rstrip('?').split()[-1]} ground"


def furepa_model() -> ScriptedChat:
    return ScriptedChat(rules=[(FIRST, searches), (Asks("furepa.*"), reads)], latency=0.01)


def furepa(model: Any, retriever: Any, **values: Any) -> Any:
    graph = create_furepa(model, retriever, settings=FurepaSettings(samples=2, **values), query_scorer=FixedScorer({}))
    return graph.compile(checkpointer=InMemorySaver())


def thread(name: str) -> dict[str, Any]:
    return {"config": {"configurable": {"thread_id": name}}}


@ways(in_threads, in_tasks)
def test_every_question_gets_its_own_answer_evidence_and_citations(together: Any) -> None:
    model = furepa_model()
    graph = furepa(model, WordRetriever(passages=GROUNDS))
    outs = together([(graph, asked(name), thread(name)) for name in NAMES])
    assert [out["answer"] for out in outs] == [f"{name}pur" for name in NAMES]
    for name, out in zip(NAMES, outs, strict=True):
        assert [passage["id"] for passage in out["evidence"]] == [name]
        assert [citation["quote"] for citation in out["citations"]] == [GROUNDS[name][1]]
        assert [step["query"] for step in out["steps"]] == [f"{name} ground"]
        assert out["usage"]["calls"] == 4
        assert graph.get_state(thread(name)["config"]).values["question"] == asked(name)["question"]
    assert model.most_in_flight > 2


@ways(in_threads, in_tasks)
def test_every_run_has_its_own_context(together: Any) -> None:
    model = furepa_model()
    graph = furepa(model, WordRetriever(passages=GROUNDS))
    samples = {name: 1 + number % 4 for number, name in enumerate(NAMES)}
    contexts = {name: {"samples": samples[name], "temperature": number / 10} for number, name in enumerate(NAMES)}
    outs = together([(graph, asked(name), {**thread(name), "context": contexts[name]}) for name in NAMES])
    assert [out["usage"]["calls"] for out in outs] == [2 * samples[name] for name in NAMES]
    for call in model.calls:
        name = call["prompt"].values["question"].rstrip("?").split()[-1]
        assert call["kwargs"]["temperature"] == contexts[name]["temperature"]


@ways(streamed_in_threads, streamed_in_tasks)
def test_every_stream_tells_of_its_own_run(together: Any) -> None:
    graph = furepa(furepa_model(), WordRetriever(passages=GROUNDS))
    streams = together([(graph, asked(name), thread(name)) for name in NAMES])
    for name, stream in zip(NAMES, streams, strict=True):
        kinds = "plans decision query evidence plans decision answer".split()
        assert [event["type"] for event in stream] == [f"furepa.{kind}" for kind in kinds]
        assert not [other for other in NAMES if other != name and other in json.dumps(stream)]
        assert stream[2]["scorer"] == "none"  # two plans of one query: there was nothing to choose from
        assert stream[-1]["answer"] == f"{name}pur"


@ways(in_threads, in_tasks)
def test_one_question_asked_of_several_corpora_and_models_gets_the_answer_of_each(together: Any) -> None:
    corpora = [{"ground": ("Arjun ground", f"The ground of Arjun is in {name}pur.")} for name in NAMES]
    shared = furepa_model()
    graphs = [
        furepa(shared if n % 2 else furepa_model(), WordRetriever(passages=corpus)) for n, corpus in enumerate(corpora)
    ]
    outs = together([(graph, asked("Arjun"), thread("1")) for graph in graphs])
    assert [out["answer"] for out in outs] == [f"{name}pur" for name in NAMES]


@ways(in_threads, in_tasks)
def test_the_offline_model_reads_the_evidence_of_each_run(together: Any) -> None:
    """One process, one reader, one planner and their caches; the passages differ in what they answer and where."""
    film = {"in_threads": "Tall Tales", "in_tasks": "Short Tales"}[together.__name__]  # nothing of it is cached yet
    people = "Ada Moore, Ben Lodge, Cora Finch, Dean Marsh".split(", ")
    corpora: list[Mapping[str, tuple[str, str]]] = [
        {
            "film": (film, f"{film} is a 1990 film directed by {person}."),
            "person": (person, f"{person} is {'a very old ' * number}director who was born in {town}."),
        }
        for number, (person, town) in enumerate(zip(people, ["Oslo", "Rome", "Lima", "Bern"], strict=True))
    ]
    question = {"question": f"Where was the director of the film {film} born?"}
    graphs: list[Any] = [
        create_furepa("offline", WordRetriever(passages=dict(corpus)), settings=FurepaSettings(seed=1)).compile()
        for corpus in corpora
    ]
    outs = together([(graph, question, {}) for graph in graphs] * 2)
    alone = [graph.invoke(question) for graph in graphs]
    for key in ("answer", "plans", "steps", "citations"):
        assert [out[key] for out in outs] == [out[key] for out in alone] * 2
    assert [out["answer"] for out in alone] == ["Oslo", "Rome", "Lima", "Bern"]


# REBEL: who wrote a book, and where that writer was born.


def book(name: str) -> str:
    return f"Where was the author of {name} born?"


def rebel(model: Any, rows: Mapping[str, str], **values: Any) -> Any:
    graph = create_rebel(model, [Table(rows).tool()], settings=RebelSettings(depth=1, **values), features=word_features)
    return graph.compile(checkpointer=InMemorySaver())


SPLITS = {book(name): f"1. Who wrote {name}?\n2. Where was #1 born? (needs 1)" for name in NAMES}
RECALLS = dict.fromkeys(SPLITS, "yes")
ROWS = {f"Who wrote {name}?": f"{name} Rao" for name in NAMES} | {
    f"Where was {name} Rao born?": f"{name}pur" for name in NAMES
}


@ways(in_threads, in_tasks)
def test_every_tree_has_its_own_questions_and_facts(together: Any) -> None:
    model = rebel_model(SPLITS, recalls=RECALLS, latency=0.01)
    graph = rebel(model, ROWS)
    outs = together([(graph, {"question": book(name)}, thread(name)) for name in NAMES])
    assert [out["answer"] for out in outs] == [f"{name}pur" for name in NAMES]
    for name, out in zip(NAMES, outs, strict=True):
        assert [fact["answer"] for fact in out["facts"]] == [f"{name} Rao", f"{name}pur", f"{name}pur"]
        assert [passage["text"] for passage in out["evidence"]] == [f"{name} Rao", f"{name}pur"]
        assert not [other for other in NAMES if other != name and other in json.dumps(out["tree"])]
        assert out["usage"]["calls"] == 9
    assert model.most_in_flight > 2


@ways(in_threads, in_tasks)
def test_every_tree_has_its_own_context_and_tools(together: Any) -> None:
    model = rebel_model(SPLITS, recalls=RECALLS, latency=0.01)
    graphs = [rebel(model, ROWS | {"Where was Arjun Rao born?": f"{name}nagar"}) for name in NAMES]
    contexts = [{"depth": number % 2, "temperature": number / 10} for number, _ in enumerate(NAMES)]
    jobs = [
        (graph, {"question": book("Arjun")}, {**thread("1"), "context": context})
        for graph, context in zip(graphs, contexts, strict=True)
    ]
    outs = together(jobs)
    assert [len(out["tree"]) for out in outs] == [1, 3] * 4
    assert [out["answer"] for out in outs[1::2]] == [f"{name}nagar" for name in NAMES[1::2]]
    sent = [call["kwargs"]["temperature"] for call in model.calls]
    assert [sent.count(number / 10) for number in range(8)] == [out["usage"]["calls"] for out in outs]
