"""The engine: who shares a batch does not matter, what was computed is not computed again, who leaves frees his row."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from langgraph_evidence.errors import ModelError
from langgraph_evidence.models.causal import CausalModel, Sampling, engine

Load = Callable[..., CausalModel]


def prompts(count: int, *, longest: int = 60) -> list[list[int]]:
    chance = random.Random(7)
    return [[chance.randrange(26) for _ in range(chance.randrange(1, longest))] for _ in range(count)]


def reply(model: CausalModel, prompt: list[int], *, limit: int = 8, seed: int = 0, **how: Any) -> list[Any]:
    return [step[0] for step in model.generate(prompt, limit=limit, sampling=Sampling(seeds=[seed], **how)) if step[0]]


def together(model: CausalModel, texts: list[list[int]], **how: Any) -> list[list[Any]]:
    with ThreadPoolExecutor(len(texts)) as pool:
        return list(pool.map(lambda text: reply(model, text, limit=3 + text[0] % 9, **how), texts))


def eventually(condition: Callable[[], Any]) -> bool:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.01)
    return False


class Counted:
    """Counts the forward passes of a network, and the tokens that it reads."""

    def __init__(self, model: CausalModel) -> None:
        self.tokens: list[int] = []
        self.rows: list[int] = []
        model._model.register_forward_pre_hook(self._count, with_kwargs=True)

    def _count(self, _module: Any, _args: Any, kwargs: Any) -> None:
        rows, count = kwargs["input_ids"].shape
        self.rows.append(rows)
        self.tokens.append(rows * count)


@pytest.mark.parametrize("family", ["llama", "mistral"])
def test_replies_of_all_lengths_together_are_those_of_plain_forward_passes(load: Load, family: str) -> None:
    model = load(family)
    texts = prompts(24)
    for text, tokens in zip(texts, together(model, texts), strict=True):
        ids = [*text, *(token.id for token in tokens)]
        with torch.inference_mode():
            plain = torch.log_softmax(model._model(torch.tensor([ids])).logits[0, len(text) - 1 : -1], -1)
        assert [token.id for token in tokens] == plain.argmax(-1).tolist()
        assert [token.logprob for token in tokens] == pytest.approx(plain.max(-1).values.tolist(), abs=1e-4)


def test_a_reply_does_not_depend_on_who_shares_its_batch(load: Load) -> None:
    texts = prompts(20)
    how: dict[str, Any] = {"temperature": 1.0, "seed": 5, "top_p": 0.95}
    alone = [reply(load(), text, limit=3 + text[0] % 9, **how) for text in texts]
    crowd = together(load(), texts, **how)
    assert [[token.id for token in one] for one in crowd] == [[token.id for token in one] for one in alone]
    assert len({tuple(token.id for token in one) for one in alone}) > 10
    for one, other in zip(crowd, alone, strict=True):
        assert [token.logprob for token in one] == pytest.approx([token.logprob for token in other], abs=1e-4)


def test_requests_share_forward_passes_and_join_those_that_run(load: Load) -> None:
    model = load()
    counted = Counted(model)
    stream = model.generate([1, 2, 3], limit=200, sampling=Sampling(seeds=[1], temperature=1.0, allowed=lambda _: [4]))
    next(stream)
    texts = prompts(12)
    together(model, texts)
    assert max(counted.rows) > 6
    assert len([step for step in stream if step[0]]) == 199


def test_no_more_rows_than_there_is_room_for(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_ROWS", 4)
    model = load()
    counted = Counted(model)
    texts = prompts(15)
    assert [len(one) for one in together(model, texts)] == [len(one) for one in together(load(), texts)]
    assert max(counted.rows) <= 4


def test_the_children_of_a_text_pay_for_their_own_tokens_alone(load: Load) -> None:
    model = load()
    counted = Counted(model)
    root = [number % 26 for number in range(100)]
    children = [[*root, 3, child, 7, 8] for child in range(6)]
    reply(model, root, limit=1)
    assert counted.tokens == [100]
    counted.tokens.clear()
    replies = together(model, children)
    # Four tokens are new of the first and three of the others, whose place in a shared pass may cost them one more.
    steps = sum(len(one) for one in replies)
    assert sum(counted.tokens) <= 6 * 4 + steps
    assert [[token.id for token in one] for one in replies] == [
        [token.id for token in reply(load(), child, limit=3 + child[0] % 9)] for child in children
    ]


def test_prompts_that_come_at_once_compute_what_they_have_in_common_once(load: Load) -> None:
    model = load()
    counted = Counted(model)
    common = [number % 26 for number in range(100)]
    asyncio.run(_all_at_once(model, [[*common, child] for child in range(8)]))
    assert sum(counted.tokens) < 101 + 8 * 2 + 8


async def _all_at_once(model: CausalModel, texts: list[list[int]]) -> None:
    async def one(text: list[int]) -> None:
        async for _ in model.agenerate(text, limit=1, sampling=Sampling(seeds=[0])):
            pass

    await asyncio.gather(*(one(text) for text in texts))


def test_a_reply_is_known_when_it_is_written_on_from(load: Load) -> None:
    model = load()
    counted = Counted(model)
    text = [number % 26 for number in range(50)]
    written = [token.id for token in reply(model, text, limit=20, allowed=lambda done: [len(done) % 26])]
    counted.tokens.clear()
    reply(model, [*text, *written, 5], limit=1)
    assert sum(counted.tokens) == 2


def test_the_memory_for_beginnings_is_held(load: Load) -> None:
    small = 40_000
    model, free = load(cache_bytes=small), load()
    texts = prompts(60, longest=120)
    for text in texts:
        reply(model, text, limit=2)
        reply(free, text, limit=2)
        assert model.engine.cache.bytes <= small
    assert model.engine.cache.bytes > small / 2
    assert free.engine.cache.bytes > 3 * small


def test_a_stream_that_is_left_frees_its_row(load: Load) -> None:
    model = load()
    stream = model.generate([1], limit=200, sampling=Sampling(seeds=[0, 1], allowed=lambda _: [3]))
    next(stream)
    assert model.engine._running
    stream.close()
    assert eventually(lambda: not model.engine._running)
    assert len(reply(model, [1], limit=3, allowed=lambda _: [3])) == 3


async def test_a_task_that_is_cancelled_frees_its_row(load: Load) -> None:
    model = load()
    written, drawn = list[int](), list[int]()

    async def talk() -> None:
        hook = Sampling(seeds=[0], allowed=slow)
        written.extend([len(step) async for step in model.agenerate([1], limit=250, sampling=hook)])

    def slow(_: Any) -> list[int]:
        drawn.append(1)
        time.sleep(0.02)
        return [3]

    task = asyncio.create_task(talk())
    while not drawn:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(eventually, lambda: not model.engine._running)
    assert written == []
    assert len(drawn) < 100


def test_a_hook_that_fails_fails_its_own_request_alone(load: Load) -> None:
    model = load()

    def broken(done: Any) -> list[int]:
        if len(done) == 2:
            raise ValueError("no such thing")
        return [3]

    stream = model.generate([1], limit=30, sampling=Sampling(seeds=[0], allowed=lambda _: [3]))
    next(stream)
    with pytest.raises(ValueError, match="no such thing"):
        reply(model, [2], allowed=broken)
    assert len(list(stream)) == 29


def test_a_network_that_fails_is_told_to_all_who_wait_and_served_again(load: Load) -> None:
    model = load()
    failing = model._model.register_forward_pre_hook(lambda *_: (_ for _ in ()).throw(MemoryError("too much")))
    with pytest.raises(MemoryError, match="too much"):
        reply(model, [1])
    failing.remove()
    stream = model.generate([1], limit=30, sampling=Sampling(seeds=[0], allowed=lambda _: [3]))
    next(stream)
    failing = model._model.register_forward_pre_hook(lambda *_: (_ for _ in ()).throw(MemoryError("too much")))
    with pytest.raises(MemoryError, match="too much"):
        list(stream)
    failing.remove()
    assert reply(model, [1], limit=2)


def test_the_thread_ends_without_work_and_starts_again(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_IDLE", 0.01)
    model = load()
    first = [token.id for token in reply(model, [1, 2])]
    assert eventually(lambda: model.engine._thread is None)
    assert [token.id for token in reply(model, [1, 2])] == first


def test_a_closed_engine_leaves_no_thread_and_nobody_waiting(load: Load) -> None:
    model = load()
    stream = model.generate([1], limit=200, sampling=Sampling(seeds=[0], allowed=lambda _: [3]))
    next(stream)
    thread = model.engine._thread
    assert thread in threading.enumerate()
    model.engine.close()
    assert thread not in threading.enumerate()
    with pytest.raises(ModelError, match="closed"):
        list(stream)
    with pytest.raises(ModelError, match="closed"):
        reply(model, [1])
    with pytest.raises(ModelError, match="closed"):
        model.log_probabilities("abc")


def test_a_fault_of_the_engine_itself_leaves_nobody_waiting(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load()
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    monkeypatch.setattr(model.engine, "_step", lambda _: 1 // 0)
    with pytest.raises(ModelError, match="failed"):
        reply(model, [1], limit=30, allowed=lambda _: [3])
    monkeypatch.undo()
    assert reply(model, [1], limit=2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_computes_by_itself(load: Load) -> None:
    model = load()
    first = [token.id for token in reply(model, [1, 2])]
    child = os.fork()
    if child == 0:
        same = [token.id for token in reply(model, [1, 2])] == first
        os._exit(0 if same else 1)
    status: list[int] = []

    def ended() -> bool:
        process, code = os.waitpid(child, os.WNOHANG)
        status.extend([code] * bool(process))
        return bool(process)

    if not eventually(ended):
        os.kill(child, 9)
    assert status == [0]
    assert [token.id for token in reply(model, [1, 2])] == first


def test_a_text_after_a_prompt_is_weighed_as_by_a_plain_forward_pass(load: Load) -> None:
    model = load()
    prompt, text = [number % 26 for number in range(60)], "hello"
    with torch.inference_mode():
        ids = torch.tensor([[*prompt, *model._tokenizer(text)["input_ids"]]])
        plain = torch.log_softmax(model._model(ids).logits[0], -1)
    expected = [float(plain[59 + place, token]) for place, token in enumerate(ids[0, 60:].tolist())]
    found = model.log_probabilities(text, prompt=prompt)
    assert [place for place, _ in found] == [0, 1, 2, 3, 4]
    assert [value for _, value in found] == pytest.approx(expected, abs=1e-4)
    counted = Counted(model)
    again = model.log_probabilities(text, prompt=prompt)
    assert [value for _, value in again] == pytest.approx(expected, abs=1e-4)
    # The prompt's last token, which tells what follows, and the text but for its last.
    assert counted.tokens == [5]
    assert model.log_probabilities("", prompt=prompt) == []
    assert model.log_probabilities("h") == []


def test_a_long_text_is_read_in_parts(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(chr(97 + number * number % 26) for number in range(100))
    whole = load().log_probabilities(text)
    monkeypatch.setattr("langgraph_evidence.models.causal.slots._CHUNK", 7)
    assert [value for _, value in load().log_probabilities(text)] == pytest.approx(
        [value for _, value in whole], abs=1e-4
    )
    parts = together(load(), prompts(12))
    monkeypatch.undo()
    assert [[token.id for token in one] for one in parts] == [
        [token.id for token in one] for one in together(load(), prompts(12))
    ]
