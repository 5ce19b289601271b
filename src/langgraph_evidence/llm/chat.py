"""Every call to a language model: one parsed reply or n samples, limited, timed, retried and accounted for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langchain_core.messages import AIMessage

from langgraph_evidence.budget import UNLIMITED
from langgraph_evidence.concurrency import gather
from langgraph_evidence.errors import InvalidInput, ModelError, UnusableReply
from langgraph_evidence.llm import events
from langgraph_evidence.llm.limiter import Slots
from langgraph_evidence.llm.prompt import Prompt, PromptCall
from langgraph_evidence.llm.provider import Provider, open_model, unwrap
from langgraph_evidence.llm.refusals import Refusals, refused_parameter, without
from langgraph_evidence.llm.replies import Reply, Sample, add_usage, is_truncated, read_logprobs, settle
from langgraph_evidence.llm.retry import CallContext, RetryPolicy, Spending
from langgraph_evidence.text import storable
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableBinding

    from langgraph_evidence.budget import Allowance
    from langgraph_evidence.llm.offline.chat import Responders

    _Drawn = list[Sample | ModelError]
    _Draw = Callable[[dict[str, Any]], Coroutine[Any, Any, _Drawn]]
    _Given = Callable[[int | None], dict[str, Any]]

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


class _Asked(NamedTuple):
    """What a request asks, in words and for models that read prompts."""

    messages: list[BaseMessage]
    prompt: PromptCall

    def again(self, reply: str, reason: str) -> _Asked:
        """The same, after a reply that was unusable for this reason."""
        turn = AIMessage(reply[:_LONGEST_BAD_REPLY] or "(no text)")
        messages = [*self.messages, turn, *REPAIR.render(reason=reason)]
        return _Asked(messages, replace(self.prompt, complaint=reason))


def _asked(prompt: Prompt, values: Mapping[str, Any]) -> _Asked:
    return _Asked(prompt.render(**values), PromptCall(prompt.name, dict(values)))


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
        responders: How the offline model replies to a method's prompts, by the prompts' names.

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
        responders: Responders | None = None,
    ) -> None:
        self._policy = RetryPolicy(attempts=attempts, timeout=timeout)
        self._slots = Slots(max_concurrency)
        chat, bound, config = unwrap(open_model(model))
        if responders and "responders" in type(chat).model_fields:
            chat = chat.model_copy(update={"responders": {**responders, **getattr(chat, "responders", {})}})
        # How many replies a request has is for the call to say.
        self._bound = {name: value for name, value in bound.items() if name != "n"}
        self._provider = Provider(chat, timeout=timeout, config=config)
        self._refusals = Refusals()

    @property
    def name(self) -> str:
        """The model as errors and reports call it."""
        return self._provider.name

    @property
    def deterministic(self) -> bool:
        """Whether the same prompt and seed always give the same reply, so that n samples need n seeds."""
        return self._provider.deterministic

    @property
    def provider(self) -> Provider:
        """What is known of the model's kind."""
        return self._provider

    async def ask(
        self,
        prompt: Prompt,
        values: Mapping[str, Any],
        *,
        parse: Callable[[str], T],
        temperature: float | None = None,
        seed: int | None = None,
        allowance: Allowance = UNLIMITED,
        **options: Any,
    ) -> Reply[T]:
        """Gets one reply that `parse` accepts; after an unusable one it asks once more, saying what was wrong.

        Args:
            prompt: What to ask.
            values: One for each variable of the prompt; a model that reads prompts gets them too.
            parse: Makes a value of the reply or raises UnusableReply.
            temperature: Of this call, unless the caller's model is bound to another; None sends none.
            seed: Of this call, for models that take one; one bound to the model is counted on from.
            allowance: What may be spent, failed tries, waits and the repair included; a first try is always made.
            **options: Further parameters of the model's call, e.g. `stop` or `max_tokens`.

        Raises:
            UnusableReply: The last reply was unusable; its `usage` counts all calls.
            ModelError: The call failed; its `usage` counts what was spent, failed tries too.
            OutOfBudget: The allowance's calls or seconds are used up, or the next try would come too late.
        """
        context = self._context(Spending(allowance))
        given = self._given(temperature, options, self._seeds(1, None if seed is None else [seed])[0])
        try:
            return await self._ask(_asked(prompt, values), given, context, parse, repairs=1)
        except (ModelError, UnusableReply) as error:
            error.usage = context.usage
            raise
        finally:
            context.usage["seconds"] = context.spending.seconds()

    async def _ask(
        self, asked: _Asked, given: dict[str, Any], context: CallContext, parse: Callable[[str], T], *, repairs: int
    ) -> Reply[T]:
        message = (await self._request(asked, given, context, cached=True))[0]
        text = storable(str(message.text))
        logprobs = read_logprobs(message) if given.get("logprobs") else None
        try:
            return Reply(parse(text), text, context.usage, logprobs, is_truncated(message))
        except UnusableReply as error:
            if not repairs or not context.spending.take():
                raise
            again = asked.again(text, error.reason)
        return await self._ask(again, given, context, parse, repairs=repairs - 1)

    async def sample(
        self,
        prompt: Prompt,
        values: Mapping[str, Any],
        *,
        n: int,
        temperature: float | None = None,
        seeds: Sequence[int] | None = None,
        logprobs: bool = False,
        native: bool = False,
        allowance: Allowance = UNLIMITED,
        **options: Any,
    ) -> list[Sample]:
        """Draws n replies to one prompt, at the same time, never from a cache; one whose call failed says so.

        Args:
            prompt: What to ask.
            values: One for each variable of the prompt; a model that reads prompts gets them too.
            n: How many replies.
            temperature: Of these calls, unless the caller's model is bound to another; None sends none.
            seeds: One for each reply, for models that take one; a seed bound to the model is added to each.
            logprobs: Whether to ask for log-probabilities; `top_logprobs` among the options says how many a token.
            native: Asks for all replies in one request where the model can (`n`), and singly for what is then lacking.
            allowance: What all n may spend, failed tries and waits included; each is tried once whatever it says.
            **options: Further parameters of the model's call.

        Raises:
            ModelError: Every call failed; its `usage` counts them all.
            OutOfBudget: Every call failed, the first for want of calls or time.
            InvalidInput: n is below one, or there is not one seed for each reply.
        """
        spending = Spending(allowance, first_tries=n)
        if logprobs:
            options = {"top_logprobs": _TOP_LOGPROBS, **options, "logprobs": True}
        draw = partial(self._draw, _asked(prompt, values), spending, logprobs=logprobs)
        given = partial(self._given, temperature, options)
        return settle(await self._draw_all(draw, given, self._seeds(n, seeds), native=native), spending.seconds())

    def _context(self, spending: Spending) -> CallContext:
        return CallContext(self.name, self._slots, spending, no_usage())

    def _seeds(self, n: int, seeds: Sequence[int] | None) -> Sequence[int | None]:
        if n < 1:
            raise InvalidInput(f"A sample of n={n} replies was asked for; n is at least 1.")
        if seeds is not None and len(seeds) != n:
            raise InvalidInput(f"{len(seeds)} seeds were given for n={n} replies; give one for each, or none.")
        bound = self._bound.get("seed")
        if isinstance(bound, int):
            # The same seed with each call would draw the same reply n times.
            return [bound + seed for seed in (seeds if seeds is not None else range(n))]
        if self._provider.deterministic:
            return seeds if seeds is not None else range(n)
        return seeds if seeds is not None and self._provider.takes_seed else [None] * n

    def _given(self, temperature: float | None, options: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
        """What this call sends of its own: what the caller bound to the model, or the server refused, is left out."""
        given = {"temperature": temperature, **options}
        given = without({name: value for name, value in given.items() if value is not None}, self._bound)
        return self._refusals.kept(given if seed is None else {**given, "seed": seed})

    async def _draw_all(self, draw: _Draw, given: _Given, seeds: Sequence[int | None], *, native: bool) -> _Drawn:
        """All in one request where that is wanted and can be; singly what is then lacking, unless that one failed."""
        drawn: _Drawn = []
        if native and len(seeds) > 1 and self._takes_n:
            drawn = await draw({**given(seeds[0]), "n": len(seeds)})
            if isinstance(drawn[0], ModelError) and self._takes_n:
                return drawn
        singly = await gather([draw(given(seed)) for seed in seeds[len(drawn) :]])
        return [*drawn, *(sample for samples in singly for sample in samples)][: len(seeds)]

    @property
    def _takes_n(self) -> bool:
        return self._provider.takes_n and "n" not in self._refusals

    async def _draw(self, asked: _Asked, spending: Spending, given: dict[str, Any], *, logprobs: bool) -> _Drawn:
        """The replies to one request, the first with the usage of all; or its failure."""
        context = self._context(spending)
        try:
            replies = await self._request(asked, given, context, cached=False)
        except ModelError as error:
            error.usage = context.usage
            return [error]
        return [
            Sample(
                storable(str(reply.text)),
                no_usage() if number else context.usage,
                read_logprobs(reply) if logprobs else None,
                truncated=is_truncated(reply),
            )
            for number, reply in enumerate(replies)
        ]

    async def _request(
        self, asked: _Asked, given: dict[str, Any], context: CallContext, *, cached: bool
    ) -> list[BaseMessage]:
        """Makes one request; when the server refuses a parameter by name, again without it."""
        refused: dict[str, str] = {}
        while True:
            call = partial(self._provider.generate, *asked, cached=cached, **{**self._bound, **given})
            try:
                replies = await self._policy.run(call, context)
                break
            except ModelError as error:
                name = refused_parameter(error.__cause__ or error, given)
                if name is None:
                    raise
                refused[name], given = str(error), without(given, [name])
                # What was refused reached no model, and is no call of the run's.
                context.usage["calls"] -= 1
        self._learn(refused)
        add_usage(context.usage, replies[0])
        if context.usage["cached_calls"]:
            context.spending.give_back()
        return replies

    def _learn(self, refused: Mapping[str, str]) -> None:
        for name, reason in refused.items():
            if self._refusals.learn(name):
                events.parameter_refused({"model": self.name, "parameter": name, "reason": reason})
