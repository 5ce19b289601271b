"""Private copies of a chat model: they never stream, never retry, and keep each event loop's connections apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.chat_models import init_chat_model

from langgraph_evidence.errors import InvalidInput, MissingExtra, ModelError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableBinding

OFFLINE = "offline"


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
    try:
        return init_chat_model(model)
    except ImportError as error:
        raise MissingExtra(f"The language model {model!r} needs a package that is not installed: {error}") from error
    except ValueError as error:
        raise InvalidInput(
            f"There is no language model {model!r}: give 'offline' or provider:model, e.g. 'openai:gpt-5-mini'. {error}"
        ) from error
    except Exception as error:
        raise ModelError(f"The language model {model!r} cannot be opened: {error}") from error


class Provider:
    """One chat model and what is known of its kind.

    Args:
        model: The caller's object; it is copied, not changed.
        timeout: Seconds after which its HTTP client gives up, where it has one that says nothing itself.
    """

    def __init__(self, model: BaseChatModel, *, timeout: float | None) -> None:  # noqa: ARG002
        fields = type(model).model_fields
        self.takes_n = "n" in fields
        self.takes_seed = "seed" in fields
        self.deterministic = bool(getattr(model, "deterministic", False))
        label = getattr(model, "model_name", None) or getattr(model, "model", None)
        kind = type(model).__name__
        self.name = f"{kind} {label!r}" if isinstance(label, str) and label else kind
        self._asking = model.model_copy(update={"disable_streaming": True})
        self._sampling = model.model_copy(update={"disable_streaming": True, "cache": False})

    def model(self, *, cached: bool) -> BaseChatModel:
        """The copy to call now: one that may use LangChain's cache, or one that never does."""
        return self._asking if cached else self._sampling
