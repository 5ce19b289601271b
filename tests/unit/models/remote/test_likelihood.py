"""Texts weighed by a server on loopback: the protocol, and replies that hold no log-probabilities."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from langgraph_evidence.errors import InvalidInput, ModelError
from langgraph_evidence.models.remote.likelihood import ServedLikelihood


@pytest.fixture
def server() -> Any:
    state: dict[str, Any] = {"reply": None, "status": 200, "seen": []}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state["seen"].append((self.path, payload, self.headers.get("Authorization")))
            body = json.dumps(
                state["reply"](payload["prompt"]) if callable(state["reply"]) else state["reply"]
            ).encode()
            self.send_response(state["status"])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    listener = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{listener.server_port}/v1", state
    listener.shutdown()
    thread.join()
    listener.server_close()


def echo(prompt: Any) -> Any:
    count = len(prompt)
    logprobs = {"text_offset": list(range(count + 1)), "token_logprobs": [None, *[-0.25] * (count - 1), -9.0]}
    return {"choices": [{"text": f"{prompt}!", "logprobs": logprobs}]}


def test_a_server_is_probed_once_and_then_asked(server: Any) -> None:
    url, state = server
    state["reply"] = echo
    model = ServedLikelihood(url, "policy", key="k")
    assert len(state["seen"]) == 1
    assert model.log_probabilities("abc") == [(1, -0.25), (2, -0.25)]  # the generated token is not the prompt's
    path, payload, authorization = state["seen"][-1]
    assert (path, authorization) == ("/v1/completions", "Bearer k")
    assert payload["echo"] is True
    assert payload["model"] == "policy"


@pytest.mark.parametrize(
    "reply",
    [
        {"choices": [{"text": "Paris", "logprobs": None}]},
        {"choices": []},
        {"choices": [{"logprobs": {"text_offset": [0], "token_logprobs": [None]}}]},
        {"choices": [{"logprobs": {"text_offset": [0, 4], "token_logprobs": [None, 3.0]}}]},
        {"choices": [{"logprobs": {"text_offset": [0, 4], "token_logprobs": [None, None]}}]},
        [],
    ],
)
def test_a_server_without_prompt_log_probabilities_is_refused(server: Any, reply: Any) -> None:
    url, state = server
    state["reply"] = reply
    with pytest.raises(ModelError, match="does not return prompt log-probabilities"):
        ServedLikelihood(url, "policy")


def test_a_server_that_fails_says_how(server: Any) -> None:
    url, state = server
    state.update(reply={"error": "no such model"}, status=404)
    with pytest.raises(ModelError, match=r"404.*no such model"):
        ServedLikelihood(url, "policy")
    with pytest.raises(ModelError, match="cannot be reached"):
        ServedLikelihood("http://127.0.0.1:9/v1", "policy", seconds=2)
    with pytest.raises(InvalidInput, match="http"):
        ServedLikelihood("file:///etc", "policy")
