"""Pairs scored by a server on loopback: four protocols, and replies that make no sense."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import numpy as np
import pytest
from local_service import Answer, serving

from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.models.base.pairs import ServedPairs
from langgraph_evidence.models.progress_reward.model import ProgressReward, context_of
from langgraph_evidence.models.query_scorer.head import CrossEncoderScorer
from langgraph_evidence.models.remote import client
from langgraph_evidence.models.remote.pair_server import PairServer
from langgraph_evidence.models.sentence_ranker.model import SentenceRanker

PAIRS = [("red", "a cat"), ("blue", "a dog"), ("red", "a lion")]
ODDS = {"a cat": 0.9, "a dog": 0.5, "a lion": 0.2}


def honest(payload: Any) -> Any:
    """What TEI or vLLM would say: each pair's score by its second text, the best first."""
    if "inputs" in payload:
        return [[{"label": "LABEL_0", "score": ODDS[text]}] for _, text in payload["inputs"]]
    texts = payload.get("text_2") or payload.get("texts") or payload["documents"]
    order = sorted(range(len(texts)), key=lambda index: -ODDS[texts[index]])
    name = "relevance_score" if "documents" in payload else "score"
    rows = [{"index": index, name: ODDS[texts[index]]} for index in order]
    return rows if "texts" in payload else {"results" if "documents" in payload else "data": rows}


REQUESTS = {
    "predict": [{"inputs": [list(pair) for pair in PAIRS], "truncate": True}],
    "score": [
        {"text_1": ["red", "blue", "red"], "text_2": ["a cat", "a dog", "a lion"], "truncate_prompt_tokens": -1},
    ],
    "rerank": [
        {"query": "red", "texts": ["a cat", "a lion"], "truncate": True},
        {"query": "blue", "texts": ["a dog"], "truncate": True},
    ],
    "v1/rerank": [
        {"query": "red", "documents": ["a cat", "a lion"], "truncate_prompt_tokens": -1},
        {"query": "blue", "documents": ["a dog"], "truncate_prompt_tokens": -1},
    ],
}


@pytest.mark.parametrize("path", REQUESTS)
def test_each_protocol_asks_and_reads_in_its_own_way(server: Any, path: Any) -> None:
    url, state, seen = server
    state["reply"] = honest
    found = PairServer(f"{url}/{path}").probabilities(PAIRS)
    assert [next(iter(row.values())) for row in found] == [0.9, 0.5, 0.2]
    assert seen == REQUESTS[path]


@pytest.mark.parametrize("path", ["predict", "rerank", "score", "v2/rerank"])
def test_no_request_holds_more_than_a_server_takes(server: Any, path: Any, monkeypatch: Any) -> None:
    url, state, seen = server
    state["reply"] = honest
    monkeypatch.setattr(f"{__name__}.ODDS", {f"text {number}": number / 100 for number in range(70)})
    found = ServedPairs(PairServer(f"{url}/{path}")).logits([("red", text) for text in ODDS])
    assert 1 / (1 + np.exp(-found[:, 0])) == pytest.approx(list(ODDS.values()), abs=1e-6)
    sizes = [len(next(value for value in payload.values() if isinstance(value, list))) for payload in seen]
    assert sizes == [32, 32, 6]


def test_a_pair_is_asked_for_once(server: Any) -> None:
    url, state, seen = server
    state["reply"] = honest
    model = ServedPairs(PairServer(f"{url}/score"))
    assert (model.logits([*PAIRS, PAIRS[0]])[[0, 3]] == model.logits(PAIRS[:1])[0]).all()
    assert [len(payload["text_1"]) for payload in seen] == [3]
    assert model.logits([]).shape == (0, 1)


def test_of_two_unnamed_outputs_the_second_counts(server: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: [[{"label": "LABEL_1", "score": 0.8}, {"label": "LABEL_0", "score": 0.2}]]
    assert ServedPairs(PairServer(f"{url}/predict")).logits(PAIRS[:1])[0, 0] == pytest.approx(np.log(4))
    state["reply"] = lambda payload: [[{"label": "sad", "score": 0.8}, {"label": "glad", "score": 0.2}]]
    with pytest.raises(ModelError, match=r"\['glad', 'sad'\]"):
        ServedPairs(PairServer(f"{url}/predict")).logits(PAIRS[:1])


def test_certainty_has_finite_odds(server: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: {"data": [{"index": 0, "score": 1}, {"index": 1, "score": 0.0}]}
    low, high = sorted(ServedPairs(PairServer(f"{url}/score")).logits(PAIRS[:2])[:, 0])
    assert (low, high) == (pytest.approx(-16.1, abs=0.1), pytest.approx(16.1, abs=0.1))


def one(index: Any, score: Any) -> Any:
    return {"index": index, "score": score}


NONSENSE: list[Any] = [
    {},
    [],
    "data",
    None,
    {"data": None},
    {"data": {}},
    {"data": "ab"},
    {"data": [one(0, 0.5)]},
    {"data": [one(0, 0.5), one(0, 0.5)]},
    {"data": [one(0, 0.5), one(2, 0.5)]},
    {"data": [one(0, 0.5), one(-1, 0.5)]},
    {"data": [one(0, 0.5), one(True, 0.5)]},
    {"data": [one(0, 0.5), one("1", 0.5)]},
    {"data": [one(0, 0.5), one(1, 0.5), one(1, 0.5)]},
    {"data": [one(0, float("nan")), one(1, 0.5)]},
    {"data": [one(0, float("inf")), one(1, 0.5)]},
    {"data": [one(0, "0.5"), one(1, 0.5)]},
    {"data": [one(0, None), one(1, 0.5)]},
    {"data": [one(0, True), one(1, 0.5)]},
    {"data": [one(0, -3.2), one(1, 0.5)]},
    {"data": [one(0, 10**400), one(1, 0.5)]},
    {"data": [0.5, 0.5]},
]


@pytest.mark.parametrize("reply", NONSENSE)
def test_nonsense_is_a_model_error(server: Any, reply: Any) -> None:
    url, state, seen = server
    state["reply"] = lambda payload: reply
    with pytest.raises(ModelError, match="protocol of /score") as caught:
        PairServer(f"{url}/score").probabilities(PAIRS[:2])
    assert not caught.value.transient
    assert len(seen) == 1


@pytest.mark.parametrize(
    "row", [[], {}, [{"label": 0, "score": 0.5}], [{"label": "a", "score": 0.5}] * 2, [{"label": "", "score": 0.5}]]
)
def test_a_result_without_sound_labels_is_a_model_error(server: Any, row: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: [row]
    with pytest.raises(ModelError, match="protocol of /predict"):
        PairServer(f"{url}/predict").probabilities(PAIRS[:1])


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"data": [', b"\xff\xfe\x00", b"[" * 100_000])
def test_what_is_no_json_is_a_model_error(server: Any, body: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: Answer(body)
    with pytest.raises(ModelError, match="not JSON"):
        PairServer(f"{url}/rerank").probabilities(PAIRS)


@pytest.mark.parametrize(("status", "attempts"), [(500, 3), (503, 3), (429, 3), (400, 1), (413, 1), (424, 1)])
def test_only_what_may_pass_is_tried_again(server: Any, status: Any, attempts: Any) -> None:
    url, state, seen = server
    state["reply"] = lambda payload: status
    with pytest.raises(ModelError, match=f"answered {status}: busy") as caught:
        PairServer(f"{url}/rerank").probabilities(PAIRS[:1])
    assert (caught.value.status, caught.value.transient) == (status, attempts > 1)
    assert len(seen) == attempts


def test_a_second_try_that_succeeds_is_the_answer(server: Any) -> None:
    url, state, seen = server
    state["reply"] = lambda payload: honest(payload) if len(seen) > 1 else 503
    assert PairServer(f"{url}/score").probabilities(PAIRS[:1]) == [{"": 0.9}]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(server: Any, status: Any) -> None:
    url, state, seen = server
    with serving(lambda _: Answer(json.dumps({"data": [one(0, 0.9)]}).encode())) as elsewhere:
        state["reply"] = lambda payload: Answer(b"over there", status, {"Location": f"{elsewhere.url}/score"})
        with pytest.raises(ModelError, match=f"answered {status}"):
            PairServer(f"{url}/score", key="secret").probabilities(PAIRS[:1])
        assert (len(seen), elsewhere.arrivals) == (1, [])


def test_the_key_is_sent(server: Any) -> None:
    with serving(lambda _: Answer(json.dumps({"data": [one(0, 0.9)]}).encode())) as service:
        PairServer(f"{service.url}/score", key="secret").probabilities(PAIRS[:1])
        assert service.arrivals[0].headers["Authorization"] == "Bearer secret"


def test_an_endless_body_is_not_read_to_its_end(server: Any, monkeypatch: Any) -> None:
    url, state, _ = server
    monkeypatch.setattr(client, "_LARGEST_REPLY", 1000)
    state["reply"] = lambda payload: Answer(b" " * 100_000)
    with pytest.raises(ModelError, match="more than 1000 bytes"):
        PairServer(f"{url}/score").probabilities(PAIRS[:1])


@pytest.mark.parametrize("raw", [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n[1"])
def test_broken_http_is_a_model_error(server: Any, raw: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: Answer(raw=raw)
    with pytest.raises(ModelError):
        PairServer(f"{url}/score").probabilities(PAIRS[:1])


def test_a_server_that_is_not_there_or_hangs_is_transient(server: Any) -> None:
    url, state, seen = server
    with pytest.raises(ModelError, match="reached") as caught:
        PairServer("http://127.0.0.1:9/score").probabilities(PAIRS)
    assert caught.value.transient
    hold = threading.Event()
    state["reply"] = lambda payload: hold.wait(5) and {}
    started = time.monotonic()
    with pytest.raises(ModelError, match="timed out") as caught:
        PairServer(f"{url}/score", seconds=0.1).probabilities(PAIRS)
    hold.set()
    assert caught.value.transient
    assert time.monotonic() - started < 2
    assert len(seen) == 1


@pytest.mark.parametrize("path", ["", "/", "/embed", "/prerank", "/score/x"])
def test_a_url_must_say_its_protocol(path: Any) -> None:
    with pytest.raises(InvalidInput, match="/predict"):
        PairServer(f"http://127.0.0.1:9{path}")


def test_every_head_opens_a_url(server: Any) -> None:
    url, state, seen = server
    state["reply"] = honest
    sentences = ["a lion", "a cat", "a dog"]
    assert SentenceRanker.load(f"{url}/rerank").rank("red", sentences) == [1, 2, 0]
    assert SentenceRanker.load(f"{url}/v1/rerank").score("red", sentences) == pytest.approx([0.2, 0.9, 0.5])

    scorer = CrossEncoderScorer.load(f"{url}/rerank")
    assert scorer.trained
    assert np.array(scorer.score(["red", "blue"], sentences)) == pytest.approx(np.array([[0.2, 0.9, 0.5]] * 2))

    seen.clear()
    reward = ProgressReward.load(f"{url}/score")
    assert reward.reward("who", [["a lion"], ["a lion", "a cat"]]) == pytest.approx([0.2, 0.55])
    assert set(seen[0]["text_1"]) == {context_of("who", []), context_of("who", ["a lion"])}


def test_what_is_no_url_opens_as_it_did(encoder: Any) -> None:
    with pytest.raises(InvalidInput, match="/predict"):
        CrossEncoderScorer.load("http://127.0.0.1:9/model.safetensors")
    with pytest.raises(InvalidInput, match="/predict"):
        ProgressReward.load("http://127.0.0.1:9/model.safetensors")
    with pytest.raises(InvalidInput, match="/predict"):
        SentenceRanker.load("http://127.0.0.1:9/model.safetensors", encoder=encoder)
