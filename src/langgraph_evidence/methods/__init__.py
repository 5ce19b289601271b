"""The methods there are. A method is known to the command line, the documentation and the tests by its entry here."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool
    from langgraph.graph import StateGraph

    from langgraph_evidence.settings import Settings


@dataclass(frozen=True)
class Components:
    """What a method may be built from; `tools` are those beside the search over the retriever."""

    model: BaseChatModel | str
    retriever: BaseRetriever
    tools: Sequence[BaseTool] = ()


@dataclass(frozen=True)
class Method:
    """One published method.

    Args:
        name: The word for it on the command line and before its events.
        paper: Authors, year and number of the paper.
        input_key: What its graph is given: a question or a claim.
        settings: The class of its settings.
        create: Builds its graph, not compiled, from components and settings.
        uses_tools: Whether it uses tools; search over the passages is then one of them.
    """

    name: str
    paper: str
    input_key: str
    settings: type[Settings]
    create: Callable[[Components, Any], StateGraph[Any, Any, Any, Any]]
    uses_tools: bool = False


def _furepa() -> Method:
    from langgraph_evidence.methods.furepa import FurepaSettings, create_furepa

    return Method(
        name="furepa",
        paper="FuRePA: furthest reasoning with plan assessment (Zhu, Luo and Cheng 2023, arXiv 2309.12767)",
        input_key="question",
        settings=FurepaSettings,
        create=lambda parts, settings: create_furepa(parts.model, parts.retriever, settings=settings),
    )


def _rebel() -> Method:
    from langgraph_evidence.methods.rebel import RebelSettings, create_rebel
    from langgraph_evidence.tools.search import search_tool

    def create(parts: Components, settings: RebelSettings) -> StateGraph[Any, Any, Any, Any]:
        return create_rebel(parts.model, [search_tool(parts.retriever), *parts.tools], settings=settings)

    return Method(
        name="rebel",
        paper="REBEL: recursion based extensible LLM (Sodani, Moos and Mirman 2023, arXiv 2309.11688)",
        input_key="question",
        settings=RebelSettings,
        create=create,
        uses_tools=True,
    )


# Loaders, so that asking for one method imports no other.
_LOADERS: dict[str, Callable[[], Method]] = {"furepa": _furepa, "rebel": _rebel}


def method_names() -> list[str]:
    """The names of all methods."""
    return list(_LOADERS)


def get_method(name: str) -> Method:
    """The method of that name.

    Raises:
        InvalidInput: There is none; the message names the nearest and all there are.
    """
    if name not in _LOADERS:
        near = difflib.get_close_matches(name, _LOADERS, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InvalidInput(f"There is no method {name!r}.{hint} Methods: {', '.join(_LOADERS)}.")
    return _LOADERS[name]()
