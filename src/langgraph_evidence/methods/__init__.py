"""The methods there are: each is one folder and one entry here, and the entry is all that other rooms know of it.

The command line, the evaluation, the documentation, the MCP server and the tests take a method from its entry; a
method from elsewhere joins them by `register`.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool
    from langgraph.graph import StateGraph

    from langgraph_evidence.llm.offline import Responders
    from langgraph_evidence.settings import Settings
    from langgraph_evidence.telling import Teller

DEFAULT = "furepa"
"""The method where none is named."""


@dataclass(frozen=True)
class Components:
    """What a method may be built from.

    Args:
        model: The chat model; unused by a method that needs none.
        retriever: Where evidence comes from.
        tools: Those beside the search over the retriever, for a method that uses tools.
        local: Local models in the place of a method's own, by their names in its entry.
    """

    model: BaseChatModel | str
    retriever: BaseRetriever
    tools: Sequence[BaseTool] = ()
    local: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Method:
    """One published method.

    Args:
        name: The word for it on the command line and before its events and prompts.
        paper: Authors, year and number of the paper.
        settings: The class of its settings.
        create: Builds its graph, not compiled, from components and settings.
        input_key: What its graph is given: a question or a claim.
        events: The payload of every event that a run sends, by kind.
        tell: How each of them is told on a terminal.
        responders: How the offline model replies to its prompts, by their names.
        local_models: How the local models that it takes are made where none are given, by name; called when needed.
        needs_model: Whether it asks a chat model.
        uses_tools: Whether it uses tools; search over the passages is then one of them.
        draw: Makes its drawing as mermaid text, where its graph alone would not show the algorithm.
    """

    name: str
    paper: str
    settings: type[Settings]
    create: Callable[[Components, Any], StateGraph[Any, Any, Any, Any]]
    input_key: str = "question"
    events: Mapping[str, type] = field(default_factory=dict)
    tell: Mapping[str, Teller] = field(default_factory=dict)
    responders: Responders = field(default_factory=dict)
    local_models: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    needs_model: bool = True
    uses_tools: bool = False
    draw: Callable[[], str] | None = None

    def drawing(self) -> str:
        """The method as mermaid text; a graph that is drawn is built and never run."""
        if self.draw is not None:
            return self.draw()
        from langchain_core.retrievers import BaseRetriever

        class Undrawn(BaseRetriever):
            def _get_relevant_documents(self, query: str, **_: Any) -> list[Any]:
                raise NotImplementedError(query)

        builder = self.create(Components("offline", Undrawn()), self.settings())
        return str(builder.compile().get_graph().draw_mermaid())


def _furepa() -> Method:
    from langgraph_evidence.methods import furepa
    from langgraph_evidence.methods.furepa import events, offline, telling
    from langgraph_evidence.models import default_query_scorer, default_verifier

    def create(parts: Components, settings: furepa.FurepaSettings) -> StateGraph[Any, Any, Any, Any]:
        return furepa.create_furepa(parts.model, parts.retriever, settings=settings, **parts.local)

    return Method(
        name="furepa",
        paper="FuRePA: furthest reasoning with plan assessment (Zhu, Luo and Cheng 2023, arXiv 2309.12767)",
        settings=furepa.FurepaSettings,
        create=create,
        events=events.SCHEMAS,
        tell=telling.TELLERS,
        responders=offline.RESPONDERS,
        local_models={"query_scorer": default_query_scorer, "verifier": default_verifier},
    )


def _rebel() -> Method:
    from langgraph_evidence.methods import rebel
    from langgraph_evidence.methods.rebel import drawing, events, near_duplicates, offline, telling
    from langgraph_evidence.models import default_verifier
    from langgraph_evidence.tools.search import search_tool

    def create(parts: Components, settings: rebel.RebelSettings) -> StateGraph[Any, Any, Any, Any]:
        tools = [search_tool(parts.retriever), *parts.tools]
        return rebel.create_rebel(parts.model, tools, settings=settings, **parts.local)

    return Method(
        name="rebel",
        paper="REBEL: recursion based extensible LLM (Sodani, Moos and Mirman 2023, arXiv 2309.11688)",
        settings=rebel.RebelSettings,
        create=create,
        events=events.SCHEMAS,
        tell=telling.TELLERS,
        responders=offline.RESPONDERS,
        local_models={"features": lambda: near_duplicates.default_features, "verifier": default_verifier},
        uses_tools=True,
        draw=drawing.draw_algorithm,
    )


def _rq_rag() -> Method:
    from langgraph_evidence.methods import rq_rag
    from langgraph_evidence.methods.rq_rag import events, offline, telling
    from langgraph_evidence.models import default_verifier

    def create(parts: Components, settings: rq_rag.RqRagSettings) -> StateGraph[Any, Any, Any, Any]:
        return rq_rag.create_rq_rag(parts.model, parts.retriever, settings=settings, **parts.local)

    return Method(
        name="rq_rag",
        paper="RQ-RAG: learning to refine queries (Chan et al. 2024, arXiv 2404.00610)",
        settings=rq_rag.RqRagSettings,
        create=create,
        events=events.SCHEMAS,
        tell=telling.TELLERS,
        responders=offline.RESPONDERS,
        local_models={"verifier": default_verifier},
    )


# Loaders, so that asking for one method imports no other.
_LOADERS: dict[str, Callable[[], Method]] = {"furepa": _furepa, "rebel": _rebel, "rq_rag": _rq_rag}
_NAME = re.compile(r"[a-z][a-z0-9_]*")


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


def register(method: Method) -> None:
    """Adds a method of another make, under its name, for this process.

    Raises:
        InvalidInput: The name is taken or no name, or an event has no teller or another method's name before it.
    """
    if not _NAME.fullmatch(method.name):
        raise InvalidInput(f"A method was named {method.name!r}; its name is lower-case letters, digits and _.")
    if method.name in _LOADERS:
        raise InvalidInput(f"There is a method {method.name!r} already; give yours another name.")
    for kind in method.events:
        if not kind.startswith(f"{method.name}.") or kind not in method.tell:
            raise InvalidInput(
                f"The event {kind!r} of {method.name!r} needs that name before it and an entry in `tell`."
            )
    _LOADERS[method.name] = lambda: method
