"""An OpenAI-compatible server on this machine that replies by a script, for tests of clients and of their failures."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

from langchain_core.messages import convert_to_messages

from langgraph_evidence.llm.scripts import ScriptedFailure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain_core.outputs import ChatResult

    from langgraph_evidence.llm.testing import ScriptedChat

_PARAMETERS = ("n", "seed", "stop", "temperature", "logprobs", "top_logprobs", "max_tokens")

Refuse = Callable[[dict[str, Any]], dict[str, Any] | None]


def as_reasoning_model(body: dict[str, Any]) -> dict[str, Any] | None:
    """Refuses what gpt-5-mini and its kin refuse: any temperature but 1, and stop, logprobs, top_logprobs, max_tokens.

    Args:
        body: A request's body.

    Returns:
        The body of the HTTP 400, worded as OpenAI does.
    """
    for name in ("stop", "logprobs", "top_logprobs", "max_tokens"):
        if body.get(name) is not None:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            return _refusal(message, name, "unsupported_parameter")
    temperature = body.get("temperature")
    if temperature in {None, 1}:
        return None
    message = f"Unsupported value: 'temperature' does not support {temperature} with this model. Only the default (1)"
    return _refusal(f"{message} value is supported.", "temperature", "unsupported_value")


def _refusal(message: str, param: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


class ScriptedServer(ThreadingHTTPServer):
    """Serves `POST /v1/chat/completions` by a scripted model, whole or streamed.

    The model's faults become the server's: a status is sent with its Retry-After, a hang delays the reply, and a
    `body` is sent as it is, as JSON or, when it begins with `<`, as HTML.

    Args:
        chat: The script.
        most_replies: The most replies to one request, as of a server that ignores a large `n`; None for all.
        refuse: Given a request's body, the body of an HTTP 400 with which it is refused, or None.
    """

    daemon_threads = True

    def __init__(self, chat: ScriptedChat, *, most_replies: int | None = None, refuse: Refuse | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.chat = chat
        self.most_replies = most_replies
        self.refuse = refuse or (lambda _: None)
        self.arrivals: list[dict[str, Any]] = []

    @property
    def base_url(self) -> str:
        """What a client is given as `base_url`."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serve(
    chat: ScriptedChat, *, most_replies: int | None = None, refuse: Refuse | None = None
) -> Iterator[ScriptedServer]:
    """Runs a server while the block runs; its arguments are those of ScriptedServer.

    Yields:
        The server; its `arrivals` lists each request's `body`, `authorization` and time (`at`, in monotonic seconds).
    """
    server = ScriptedServer(chat, most_replies=most_replies, refuse=refuse)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_POST(self) -> None:
        """Replies to one request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        authorization = self.headers.get("authorization", "")
        self.server.arrivals.append({"body": body, "authorization": authorization, "at": time.monotonic()})
        refused = self.server.refuse(body)
        if refused is not None:
            self._send(400, json.dumps(refused), {})
            return
        messages = convert_to_messages(body["messages"])
        kwargs = {name: body[name] for name in _PARAMETERS if body.get(name) is not None}
        if self.server.most_replies is not None:
            kwargs["n"] = min(kwargs.get("n", 1), self.server.most_replies)
        try:
            result = self.server.chat._generate(messages, **kwargs)  # noqa: SLF001 - the server is the script's face
        except ScriptedFailure as error:
            told = json.dumps({"error": {"message": str(error)}})
            self._send(error.status_code, told, error.response.headers)
            return
        first = str(result.generations[0].message.text)
        if body.get("stream"):
            self._send(200, _events(result, body), {"content-type": "text/event-stream"})
        else:
            html = {"content-type": "text/html"} if first.startswith("<") else {}
            whole = result.generations[0].message.response_metadata.get("body")
            self._send(200, first if whole else json.dumps(_completion(result, body)), html if whole else {})

    def _send(self, status: int, text: str, headers: Any) -> None:
        data = text.encode()
        try:
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            # The client hung up, as it does after a time-out.
            self.close_connection = True


def _completion(result: ChatResult, body: dict[str, Any]) -> dict[str, Any]:
    choices = []
    for index, generation in enumerate(result.generations):
        message = generation.message
        logprobs = message.response_metadata.get("logprobs")
        turn = {"role": "assistant", "content": str(message.text)}
        choices.append({"index": index, "message": turn, "logprobs": logprobs, "finish_reason": "stop"})
    head = {"id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": body["model"]}
    return {**head, "choices": choices, "usage": _usage(result)}


def _usage(result: ChatResult) -> dict[str, int]:
    counts = getattr(result.generations[0].message, "usage_metadata", None) or {}
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}
    return {theirs: counts.get(ours, 0) for theirs, ours in names.items()}


def _events(result: ChatResult, body: dict[str, Any]) -> str:
    head = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    rows: list[dict[str, Any]] = []
    for index, generation in enumerate(result.generations):
        for word in str(generation.message.text).split(" "):
            choice = {"index": index, "delta": {"role": "assistant", "content": f"{word} "}, "finish_reason": None}
            rows.append({**head, "choices": [choice]})
        rows.append({**head, "choices": [{"index": index, "delta": {}, "finish_reason": "stop"}]})
    if (body.get("stream_options") or {}).get("include_usage"):
        rows.append({**head, "choices": [], "usage": _usage(result)})
    return "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + "data: [DONE]\n\n"
