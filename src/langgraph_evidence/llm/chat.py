"""Every call to a language model: one parsed reply or n samples, limited, timed, retried and accounted for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableBinding, RunnableConfig
from langchain_core.runnables.config import merge_configs

from langgraph_evidence.budget import total_usage
from langgraph_evidence.concurrency import gather
from langgraph_evidence.errors import InvalidInput, ModelError, UnusableReply
from langgraph_evidence.llm.limiter import Slots
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.llm.provider import Provider, open_model
from langgraph_evidence.llm.replies import read_logprobs, read_usage
from langgraph_evidence.llm.retry import RetryPolicy
from langgraph_evidence.types import Usage, no_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from langchain_core.messages import BaseMessage

T = TypeVar("T")

REPAIR = Prompt(
    name="repair",
    messages=(
        ("human", "That reply cannot be used: $reason\nReply again to the same request, in the required form only."),
    ),
    variables=("reason",),
)

# The bad reply goes back to the model so that it sees what was wrong; a runaway reply would fill its context.
_LONGEST_BAD_REPLY = 4000
_TOP_LOGPROBS = 5


@dataclass(frozen=True)
class Reply(Generic[T]):
    """One parsed reply.

    Attributes:
        value: What `parse` made of the text.
        text: The reply as it came.
        usage: Of all calls it took.
        repaired: Whether the first reply was unusable and this is the second.
    """

    value: T
    text: str
    usage: Usage
    repaired: bool


@dataclass(frozen=True)
class Sample:
    """One of n sampled replies.

    Attributes:
        text: The reply as it came; empty where the call failed.
        usage: Its share: the samples' usages add up to that of the round, seconds to its wall time.
        logprobs: One entry a token, `{"token", "logprob", "top": {token: logprob}}`, where asked for and given.
        error: Why this call failed, where it did and another one did not.
    """

    text: str
    usage: Usage
    logprobs: list[dict[str, Any]] | None = None
    error: str | None = None


class LanguageModel:
    """A chat model behind one limit on calls in flight, one retry policy and one way of counting.

    It works under synchronous and asynchronous graphs, on any number of event loops, and under every stream mode: the
    calls go through private copies of the model that never stream, so that samples and log-probabilities stay whole,
    and they are tagged `nostream`. The caller's object is not changed.

    Args:
        model: A chat model (bound parameters go along), `"offline"`, `"local:"` and a directory, or a
            name for `init_chat_model`, e.g. `"openai:gpt-5-mini"`.
        max_concurrency: Calls in flight at the same time, over all graphs that share this object.
        timeout: Seconds that one call may take before it counts as failed; None waits for ever.
        attempts: Tries of a call that fails for a passing reason, the first included.

    Raises:
        InvalidInput: The model is neither a chat model nor a known name, or a limit is out of range.
        MissingExtra: The provider's package is not installed.
        ModelError: The provider's client cannot be made, mostly for want of a key.
    """

    def __init__(
        self,
        model: BaseChatModel | RunnableBinding[Any, Any] | str,
        *,
        max_concurrency: int = 16,
        timeout: float | None = 120.0,
        attempts: int = 4,
    ) -> None:
        self._policy = RetryPolicy(attempts=attempts, timeout=timeout)
        self._slots = Slots(max_concurrency)
        chat, self._bound, config = _unwrap(open_model(model))
        self._provider = Provider(chat, timeout=timeout, config=config)

    @property
    def name(self) -> str:
        """The model as errors and reports call it."""
        return self._provider.name

    @property
    def deterministic(self) -> bool:
        """Whether the same prompt and seed always give the same reply, so that n samples need n seeds."""
        return self._provider.deterministic

    async def ask(
        self,
        prompt: Prompt,
        variables: Mapping[str, str | int | float],
        *,
        parse: Callable[[str], T],
        temperature: float | None = None,
        seed: int | None = None,
        seconds: float | None = None,
        repair: bool = True,
        **options: Any,
    ) -> Reply[T]:
        """Gets one reply that `parse` accepts; after an unusable one it asks once more, saying what was wrong.

        Args:
            prompt: What to ask.
            variables: The prompt's values.
            parse: Makes a value of the reply or raises UnusableReply.
            temperature: Of this call; None leaves the model's own.
            seed: Of this call, for models that take one.
            seconds: Time left for this round, tries and waits included; None sets no limit.
            repair: Whether an unusable reply is asked for again; a run with a budget of one call forbids it.
            **options: Further parameters of the model's call, e.g. `stop` or `max_tokens`.

        Raises:
            UnusableReply: The last reply was unusable; its `usage` counts all calls.
            ModelError: The call failed; its `usage` counts what was spent before.
        """
        started = time.monotonic()
        messages = prompt.render(**variables)
        kwargs = self._kwargs(temperature, self._seeds(1, None if seed is None else [seed])[0], options)
        text, usage = await self._ask_once(messages, kwargs, seconds)
        try:
            return Reply(parse(text), text, usage, repaired=False)
        except UnusableReply as error:
            if not repair:
                error.usage = usage
                raise
            reason = error.reason
        turn = AIMessage(text[:_LONGEST_BAD_REPLY] or "(no text)")
        messages = [*messages, turn, *REPAIR.render(reason=reason)]
        left = None if seconds is None else seconds - (time.monotonic() - started)
        try:
            text, second = await self._ask_once(messages, kwargs, left)
            usage = total_usage([usage, second])
            return Reply(parse(text), text, usage, repaired=True)
        except (ModelError, UnusableReply) as error:
            error.usage = usage
            raise

    async def sample(
        self,
        prompt: Prompt,
        variables: Mapping[str, str | int | float],
        *,
        n: int,
        temperature: float | None = None,
        seeds: Sequence[int] | None = None,
        logprobs: bool = False,
        native: bool = False,
        seconds: float | None = None,
        **options: Any,
    ) -> list[Sample]:
        """Draws n replies to one prompt, at the same time, never from a cache.

        Args:
            prompt: What to ask.
            variables: The prompt's values.
            n: How many replies.
            temperature: Of these calls; None leaves the model's own.
            seeds: One for each reply, for models that take one.
            logprobs: Whether to ask for log-probabilities; `top_logprobs` among the options says how many a token.
            native: Asks for all replies in one request where the model can (`n`), and singly for what is then lacking.
            seconds: Time left for this round, tries and waits included; None sets no limit.
            **options: Further parameters of the model's call.

        Returns:
            n samples, in the order of the seeds.

        Raises:
            ModelError: Every call failed.
            InvalidInput: n is below one, or there is not one seed for each reply.
        """
        started = time.monotonic()
        messages = prompt.render(**variables)
        each = self._seeds(n, seeds)
        if logprobs:
            options = {"top_logprobs": _TOP_LOGPROBS, **options, "logprobs": True}
        drawn: list[Sample] = []
        if native and n > 1 and self._provider.takes_n:
            kwargs = self._kwargs(temperature, each[0], options)
            drawn = await self._draw(messages, {**kwargs, "n": n}, seconds, logprobs=logprobs)
        left = None if seconds is None else seconds - (time.monotonic() - started)
        outcomes = await gather(
            [
                self._draw_or_error(messages, self._kwargs(temperature, seed, options), left, logprobs=logprobs)
                for seed in each[len(drawn) :]
            ]
        )
        drawn = [*drawn, *_settle(outcomes, drawn)][:n]
        share = (time.monotonic() - started) / n
        return [_timed(sample, share) for sample in drawn]

    def _seeds(self, n: int, seeds: Sequence[int] | None) -> Sequence[int | None]:
        if n < 1:
            raise InvalidInput(f"A sample of n={n} replies was asked for; n is at least 1.")
        if seeds is not None and len(seeds) != n:
            raise InvalidInput(f"{len(seeds)} seeds were given for n={n} replies; give one for each, or none.")
        if self._provider.deterministic:
            return seeds if seeds is not None else range(n)
        return seeds if seeds is not None and self._provider.takes_seed else [None] * n

    def _kwargs(self, temperature: float | None, seed: int | None, options: Mapping[str, Any]) -> dict[str, Any]:
        given = {"temperature": temperature, "seed": seed}
        return {**self._bound, **{name: value for name, value in given.items() if value is not None}, **options}

    async def _ask_once(
        self, messages: list[BaseMessage], kwargs: dict[str, Any], seconds: float | None
    ) -> tuple[str, Usage]:
        started = time.monotonic()
        reply, *_ = await self._call(messages, kwargs, seconds, cached=True)
        return str(reply.text), {**read_usage(reply), "seconds": time.monotonic() - started}

    async def _draw(
        self, messages: list[BaseMessage], kwargs: dict[str, Any], seconds: float | None, *, logprobs: bool
    ) -> list[Sample]:
        replies = await self._call(messages, kwargs, seconds, cached=False)
        # A request for n replies has one usage, which some models repeat on every reply.
        usages = [read_usage(replies[0]), *(no_usage() for _ in replies[1:])]
        return [
            Sample(str(reply.text), usage, read_logprobs(reply) if logprobs else None)
            for reply, usage in zip(replies, usages, strict=True)
        ]

    async def _draw_or_error(
        self, messages: list[BaseMessage], kwargs: dict[str, Any], seconds: float | None, *, logprobs: bool
    ) -> Sample | ModelError:
        try:
            (sample,) = await self._draw(messages, kwargs, seconds, logprobs=logprobs)
        except ModelError as error:
            return error
        return sample

    async def _call(
        self, messages: list[BaseMessage], kwargs: dict[str, Any], seconds: float | None, *, cached: bool
    ) -> list[BaseMessage]:
        call = partial(self._provider.generate, messages, cached=cached, **kwargs)
        return await self._policy.run(call, model=self.name, slots=self._slots, seconds=seconds)


def _unwrap(model: BaseChatModel | RunnableBinding[Any, Any]) -> tuple[BaseChatModel, dict[str, Any], RunnableConfig]:
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


def _settle(outcomes: Sequence[Sample | ModelError], drawn: Sequence[Sample]) -> list[Sample]:
    """Failed calls become samples that say so, unless nothing at all succeeded."""
    failures = [outcome for outcome in outcomes if isinstance(outcome, ModelError)]
    if failures and len(failures) == len(outcomes) and not drawn:
        raise failures[0]
    return [
        Sample("", no_usage(), error=str(outcome)) if isinstance(outcome, ModelError) else outcome
        for outcome in outcomes
    ]


def _timed(sample: Sample, seconds: float) -> Sample:
    return Sample(sample.text, {**sample.usage, "seconds": seconds}, sample.logprobs, sample.error)
