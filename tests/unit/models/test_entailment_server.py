"""Scoring servers over loopback: protocols, label order, failures."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.models.entailment import Entailment
from langgraph_evidence.models.entailment_server import server_scorer

PAIRS = [("premise one", "yes"), ("premise two", "no")]


@pytest.fixture
def server() -> Any:
    """A server that answers with `reply(payload)`, or the status it returns instead."""
    seen: list[dict[str, Any]] = []
    state: dict[str, Any] = {"reply": lambda payload: []}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(payload)
            reply = state["reply"](payload)
            status, body = (reply, b"busy") if isinstance(reply, int) else (200, json.dumps(reply).encode())
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=service.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{service.server_port}", state, seen
    service.shutdown()
    thread.join()
    service.server_close()


def predicted(names: Any) -> Any:
    def reply(payload: Any) -> Any:
        good = [0.1, 0.2, 0.7]
        return [
            sorted(
                (
                    {"label": name, "score": value}
                    for name, value in zip(names, good if text == "yes" else good[::-1], strict=True)
                ),
                key=lambda item: -item["score"],
            )
            for _, text in payload["inputs"]
        ]

    return reply


def test_tei_labels_are_read_by_name_not_by_place(server: Any) -> None:
    url, state, seen = server
    state["reply"] = predicted(["CONTRADICTION", "NEUTRAL", "ENTAILMENT"])
    model = Entailment.load(f"{url}/predict")
    assert model.probabilities(PAIRS) == pytest.approx([0.7, 0.1])
    assert model.labels3(PAIRS)[0] == pytest.approx([0.7, 0.2, 0.1])
    assert [sorted(payload["inputs"]) for payload in seen] == [[list(pair) for pair in PAIRS]]


def test_tei_labels_without_names_need_the_order(server: Any) -> None:
    url, state, _ = server
    state["reply"] = predicted(["LABEL_0", "LABEL_1", "LABEL_2"])
    model = Entailment.load(f"{url}/predict", labels=("contradiction", "neutral", "entailment"))
    assert model.probabilities(PAIRS) == pytest.approx([0.7, 0.1])


def test_labels_the_server_does_not_have_are_refused(server: Any) -> None:
    url, state, _ = server
    state["reply"] = predicted(["entailment", "not_entailment", "neutral"])
    with pytest.raises(ModelError, match="labels"):
        Entailment.load(f"{url}/predict").probabilities(PAIRS)


def test_vllm_scores_come_in_any_order(server: Any) -> None:
    url, state, seen = server
    state["reply"] = lambda payload: {"data": [{"index": 1, "score": 0.2}, {"index": 0, "score": 0.9}]}
    assert server_scorer(f"{url}/score", None).score(PAIRS)[:, 0] == pytest.approx([0.9, 0.2])
    assert seen == [{"text_1": ["premise one", "premise two"], "text_2": ["yes", "no"]}]


def test_pairs_go_out_in_batches(server: Any) -> None:
    url, state, seen = server
    state["reply"] = lambda payload: {
        "data": [{"index": place, "score": 0.5} for place in range(len(payload["text_1"]))]
    }
    found = server_scorer(f"{url}/score", None).score([("p", str(place)) for place in range(70)])
    assert found.shape == (70, 2)
    assert [len(payload["text_1"]) for payload in seen] == [32, 32, 6]


@pytest.mark.parametrize(
    "reply", [[], {"data": [{"index": 0, "score": 0.5}]}, {"data": [{"index": 0, "score": 7}]}, {"no": 1}, "text"]
)
def test_another_protocol_is_a_model_error(server: Any, reply: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: reply
    with pytest.raises(ModelError):
        Entailment.load(f"{url}/score").probabilities(PAIRS)


@pytest.mark.parametrize(("status", "transient"), [(503, True), (429, True), (400, False)])
def test_a_refusal_says_whether_to_try_again(server: Any, status: Any, transient: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: status
    with pytest.raises(ModelError, match=str(status)) as caught:
        Entailment.load(f"{url}/predict").probabilities(PAIRS)
    assert (caught.value.status, caught.value.transient) == (status, transient)


def test_a_server_that_is_not_there_or_hangs_is_transient(server: Any) -> None:
    url, state, _ = server
    with pytest.raises(ModelError, match="reached") as caught:
        Entailment.load("http://127.0.0.1:9/score").probabilities(PAIRS)
    assert caught.value.transient
    hold = threading.Event()
    state["reply"] = lambda payload: hold.wait(5) and {}
    with pytest.raises(ModelError, match="timed out"):
        server_scorer(f"{url}/score", None, seconds=0.1).score(PAIRS)
    hold.set()


def test_a_url_must_say_its_protocol() -> None:
    with pytest.raises(InvalidInput, match="/predict"):
        Entailment.load("http://127.0.0.1:9/embed")
    with pytest.raises(InvalidInput, match="labels="):
        Entailment.load("http://127.0.0.1:9/score", labels=("entailment", "neutral"))


def test_rows_are_float32(server: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: {"data": [{"index": 0, "score": 0.5}]}
    assert server_scorer(f"{url}/score", None).score(PAIRS[:1]).dtype == np.float32
