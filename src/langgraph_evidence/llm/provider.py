"""Private copies of a chat model: they never stream, never retry, and keep each event loop's connections apart."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGeneration
from langchain_core.runnables import RunnableBinding, RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs

from langgraph_evidence.concurrency import call_either
from langgraph_evidence.errors import InvalidInput, MissingExtra, ModelError
from langgraph_evidence.llm.bodies import BadBody, read_with_care
from langgraph_evidence.llm.local import LocalChat

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import LLMResult

    from langgraph_evidence.llm.prompt import PromptCall

OFFLINE = "offline"
LOCAL = "local:"
SMOLLM2 = "smollm2"


def open_model(model: BaseChatModel | RunnableBinding[Any, Any] | str) -> Any:
    """Makes a chat model of a name; anything else comes back as it is.

    Raises:
        InvalidInput: No provider is known for the name.
        MissingExtra: The provider's package is not installed.
        ModelError: The provider's client cannot be made.
    """
    if not isinstance(model, str):
        return model
    if model == OFFLINE:
        from langgraph_evidence.llm.offline import OfflineChat

        return OfflineChat()
    if model == SMOLLM2 or model.startswith(LOCAL):
        return LocalChat(model.removeprefix(LOCAL))
    try:
        return init_chat_model(model)
    except ImportError as error:
        raise MissingExtra(f"The language model {model!r} needs a package that is not installed: {error}") from error
    except ValueError as error:
        raise InvalidInput(
            f"There is no language model {model!r}: give 'offline', 'smollm2', local:directory or provider:model,"
            f" e.g. 'openai:gpt-5-mini'. {error}"
        ) from error
    except Exception as error:
        raise ModelError(f"The language model {model!r} cannot be opened: {error}") from error


def unwrap(model: BaseChatModel | RunnableBinding[Any, Any]) -> tuple[BaseChatModel, dict[str, Any], RunnableConfig]:
    """The chat model within, the parameters bound to it, and the config.

    Raises:
        InvalidInput: There is no chat model within.
    """
    bound: dict[str, Any] = {}
    config = RunnableConfig()
    inner: Any = model
    while isinstance(inner, RunnableBinding):
        bound, config = {**inner.kwargs, **bound}, merge_configs(inner.config, config)
        inner = inner.bound
    if not isinstance(inner, BaseChatModel):
        kind = type(inner).__name__
        raise InvalidInput(f"A {kind} was given as language model; give a LangChain chat model, 'offline' or a name.")
    return inner, bound, config


class Provider:
    """One chat model and what is known of its kind.

    Args:
        model: The caller's object; it is copied, not changed.
        timeout: Seconds after which its HTTP client gives up, where it has one that says nothing itself.
        config: What the caller bound to it with `.with_config(...)`.
    """

    def __init__(self, model: BaseChatModel, *, timeout: float | None, config: RunnableConfig) -> None:
        fields = type(model).model_fields
        self.takes_n = "n" in fields
        self.takes_seed = "seed" in fields
        self._reads_prompts = bool(getattr(model, "reads_prompts", False))
        self.deterministic = bool(getattr(model, "deterministic", False))
        self.adapter = str(getattr(model, "adapter", None) or "")
        self.context: int | None = (getattr(model, "profile", None) or {}).get("max_input_tokens")
        self._served = "extra_body" in fields
        self.name = _name(model)
        changes = {name: value for name, value in {"n": 1, "streaming": False}.items() if getattr(model, name, None)}
        changes = {**changes, **_openai_clients(model, timeout), "disable_streaming": True}
        quiet = model.model_copy(update=changes)
        read_with_care(quiet)
        self._copies = {True: quiet, False: quiet.model_copy(update={"cache": False})}
        self._loops = _LoopClients()
        self._config = config

    def continuing(self, *, first: Sequence[str] = ()) -> dict[str, Any]:
        """The options of a call whose last message is the beginning of the reply, which the model writes on from.

        The words are those of vLLM's chat API; control tokens are shown in what is written.

        Args:
            first: The texts of single tokens, one of which has to come first, for models in this process; a server is
                to be asked for `top_logprobs` instead.
        """
        options = {"continue_final_message": True, "skip_special_tokens": False}
        if self._served:
            return {"extra_body": {**options, "add_generation_prompt": False}}
        return {**options, "allowed_tokens": list(first)} if first else options

    async def generate(
        self, messages: list[BaseMessage], prompt: PromptCall, *, cached: bool, **kwargs: Any
    ) -> list[BaseMessage]:
        """Makes one request.

        Args:
            messages: The prompt in words.
            prompt: Its name, which traces show, and its values, for models that read them.
            cached: Whether LangChain's cache may answer it.
            **kwargs: Parameters of the model's call.

        Returns:
            At least one reply.

        Raises:
            BadBody: The server sent no reply at all.
        """
        ours = RunnableConfig(tags=["nostream"], metadata={"prompt": prompt.name}, run_name=prompt.name)
        config = merge_configs(ensure_config(), ours, self._config)
        context = {name: config.get(name) for name in ("callbacks", "tags", "metadata", "run_name")}
        model = self._copies[cached]
        if self._reads_prompts:
            kwargs["prompt"] = prompt

        async def on_loop(*args: Any, **kwargs: Any) -> LLMResult:
            return await (await self._with_loop_client(model)).agenerate(*args, **kwargs)

        result = await call_either(model.generate, on_loop, [messages], **context, **kwargs)
        replies = [reply.message for reply in result.generations[0] if isinstance(reply, ChatGeneration)]
        if not replies:
            raise BadBody("no reply at all")
        return replies

    async def _with_loop_client(self, model: BaseChatModel) -> BaseChatModel:
        if not _owns_connections(model):
            return model
        client = await self._loops.client(model)
        return model.model_copy(update={"root_async_client": client, "async_client": client.chat.completions})


def _name(model: BaseChatModel) -> str:
    """Class, model and server, without what a URL may hold of a user's credentials."""
    label = getattr(model, "model_name", None) or getattr(model, "model", None)
    words = [type(model).__name__, *([repr(label)] if isinstance(label, str) and label else [])]
    base_url = getattr(model, "openai_api_base", None)
    if base_url:
        words.append(f"at {urlsplit(base_url).netloc.rpartition('@')[2]}")
    return " ".join(words)


def _openai_clients(model: Any, timeout: float | None) -> dict[str, Any]:
    """The same clients without retries of their own, which would multiply ours."""
    if getattr(model, "root_client", None) is None or getattr(model, "root_async_client", None) is None:
        return {}
    options: dict[str, Any] = {"max_retries": 0}
    if getattr(model, "request_timeout", None) is None:
        options["timeout"] = timeout
    sync, asynchronous = model.root_client.with_options(**options), model.root_async_client.with_options(**options)
    return {
        "root_client": sync,
        "client": sync.chat.completions,
        "root_async_client": asynchronous,
        "async_client": asynchronous.chat.completions,
        "max_retries": 0,
    }


def _owns_connections(model: Any) -> bool:
    """Whether langchain-openai made the asynchronous connections; a pool that a caller gave stays the caller's."""
    if getattr(model, "root_async_client", None) is None:
        return False
    return model.http_async_client is None or model.openai_proxy is not None


class _LoopClients:
    """One asynchronous OpenAI client for each event loop: a pooled connection cannot be used on another loop."""

    def __init__(self) -> None:
        self._opened: dict[asyncio.AbstractEventLoop, asyncio.Task[tuple[Any, AsyncGenerator[None]]]] = {}
        self._lock = threading.Lock()

    async def client(self, model: Any) -> Any:
        loop = asyncio.get_running_loop()
        with self._lock:
            for other in [other for other, opening in self._opened.items() if other.is_closed() or _failed(opening)]:
                del self._opened[other]
            if loop not in self._opened:
                # Without the caller's context, which would live as long as the loop.
                self._opened[loop] = loop.create_task(self._open(loop, model), context=contextvars.Context())
            opening = self._opened[loop]
        # Others may be waiting for the same client when this caller is cancelled.
        return (await asyncio.shield(opening))[0]

    async def _open(self, loop: asyncio.AbstractEventLoop, model: Any) -> tuple[Any, AsyncGenerator[None]]:
        from openai import DefaultAsyncHttpxClient

        # It reads the certificates from disk, which would block the loop.
        pool = await asyncio.to_thread(DefaultAsyncHttpxClient, proxy=model.openai_proxy)
        closing = self._close_with(loop, pool)
        await anext(closing)
        return model.root_async_client.with_options(http_client=pool), closing

    async def _close_with(self, loop: asyncio.AbstractEventLoop, pool: Any) -> AsyncGenerator[None]:
        """Closes the connections when the loop shuts down its asynchronous generators, the last chance on that loop."""
        try:
            yield
        finally:
            with self._lock:
                self._opened.pop(loop, None)
            await pool.aclose()


def _failed(opening: asyncio.Task[Any]) -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)
