"""What a process loads once, whoever asks first: the encoder, and by `once` any other model.

Two threads that import torch at once, or one that follows an import that was broken off, meet a torch that is only half
there; one lock is therefore held over the first import and over every load of a default model.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
from typing import TYPE_CHECKING, TypeVar

from langgraph_evidence.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from langgraph_evidence.models.base import Encoder

T = TypeVar("T")

# One for all models, since one model's loading asks for another's (a head's for the encoder's).
_lock = threading.RLock()


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Holds the lock, with torch whole; what is imported inside it is imported by one thread alone.

    Raises:
        MissingExtra: A package of the local models is not installed.
    """
    with _lock:
        try:
            importlib.import_module("torch")  # whole, before anything that needs it
            yield
        except MissingExtra:
            raise
        except ImportError as error:
            raise MissingExtra(
                f"The local models need {error.name}: pip install 'langgraph-evidence[local]', or give another model."
            ) from error


def once(load: Callable[[], T]) -> Callable[[], T]:
    """Makes a function that loads when it is first called and gives the same thing ever after, to all threads.

    A load that fails is not remembered: the next call tries again.

    Args:
        load: Imports and loads a model.
    """
    loaded: list[T] = []

    @functools.wraps(load)
    def shared() -> T:
        if not loaded:
            with loading():
                if not loaded:
                    loaded.append(load())
        return loaded[0]

    return shared


@once
def default_encoder() -> Encoder:
    """The process's shared encoder, loaded at its first use.

    Raises:
        ResourceError: The default weights are nowhere to be found, or were altered.
        MissingExtra: The local models are not installed.
    """
    from langgraph_evidence.models.base import Encoder

    return Encoder.load()
