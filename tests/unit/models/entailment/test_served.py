"""Entailment by a scoring server on loopback: labels, failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.models.entailment.model import Entailment
from langgraph_evidence.models.entailment.served import ServedEntailment
from langgraph_evidence.models.remote.pair_server import PairServer

PAIRS = [("premise one", "yes"), ("premise two", "no")]


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
    url, state, _ = server
    state["reply"] = lambda payload: {"data": [{"index": 1, "score": 0.2}, {"index": 0, "score": 0.9}]}
    found = ServedEntailment(PairServer(f"{url}/score")).logits(PAIRS)
    assert np.exp(found) == pytest.approx(np.array([[0.9, 0.1], [0.2, 0.8]]))


@pytest.mark.parametrize(("status", "transient"), [(503, True), (429, True), (400, False)])
def test_a_refusal_says_whether_to_try_again(server: Any, status: Any, transient: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: status
    with pytest.raises(ModelError, match=str(status)) as caught:
        Entailment.load(f"{url}/predict").probabilities(PAIRS)
    assert (caught.value.status, caught.value.transient) == (status, transient)


def test_a_url_must_say_its_protocol() -> None:
    with pytest.raises(InvalidInput, match="/predict"):
        Entailment.load("http://127.0.0.1:9/embed")
    with pytest.raises(InvalidInput, match="labels="):
        Entailment.load("http://127.0.0.1:9/score", labels=("entailment", "neutral"))


def test_rows_are_float32(server: Any) -> None:
    url, state, _ = server
    state["reply"] = lambda payload: {"data": [{"index": 0, "score": 0.5}]}
    assert ServedEntailment(PairServer(f"{url}/score")).logits(PAIRS[:1]).dtype == np.float32
