"""Publishes over MCP what this folder and the methods offer: search, arithmetic, declarative tools, whole methods.

    python tools/mcp_server.py                          over the standard input and output
    python tools/mcp_server.py --http --port 8008       on this machine alone, at http://127.0.0.1:8008/mcp

It needs the extra `mcp`. `EVIDENCE_MODEL` chooses the methods' model, `EVIDENCE_INDEX` or `EVIDENCE_CORPUS` what is
searched, as for the graphs of the server.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from fastmcp import FastMCP

from langgraph_evidence.methods import Components, get_method, method_names
from langgraph_evidence.retrieval.sources import open_source
from langgraph_evidence.tools import as_tool, calculator_tool, load_tools, search_tool
from langgraph_evidence.tools.mcp import publish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.tools import BaseTool

HERE = Path(__file__).parent


def build(folders: Sequence[Path], allow: Sequence[str] = ()) -> FastMCP:
    """A server of everything: tools first, then a tool for each method.

    Args:
        folders: Folders of declarative tools.
        allow: Hosts and networks inside that they may reach.
    """
    retriever = open_source(index=os.environ.get("EVIDENCE_INDEX"), corpus=os.environ.get("EVIDENCE_CORPUS"))
    tools = [search_tool(retriever), calculator_tool()]
    for folder in folders:
        tools += load_tools(folder, environment=os.environ, allow=allow)
    server = FastMCP("langgraph-evidence")
    for tool in [*tools, *_methods(Components(os.environ.get("EVIDENCE_MODEL", "offline"), retriever, tools[1:]))]:
        publish(server, tool)
    return server


def _methods(components: Components) -> list[BaseTool]:
    found = []
    for name in method_names():
        method = get_method(name)
        graph = method.create(components, method.settings()).compile(name=name)
        description = f"Answers a {method.input_key} from evidence, with citations, by {method.paper}."
        found.append(as_tool(graph, name=name, description=description, relay=True))
    return found


def main() -> None:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", action="append", type=Path, default=[], help="A folder of declarative tools.")
    parser.add_argument("--allow", action="append", default=[], help="A host or network inside that they may reach.")
    parser.add_argument("--http", action="store_true", help="Serve on this machine over HTTP.")
    parser.add_argument("--port", type=int, default=8008)
    parser.add_argument("--serve-host", action="append", help="A further host name that requests may be addressed to.")
    given = parser.parse_args()
    server = build([HERE, *given.tools], given.allow)
    if given.http:
        # A web page that points a name of its own at this machine (DNS rebinding) sends that name: it is refused.
        guard = {"host_origin_protection": True, "allowed_hosts": given.serve_host}
        server.run("http", show_banner=False, host="127.0.0.1", port=given.port, **guard)
    else:
        server.run("stdio", show_banner=False)


if __name__ == "__main__":
    main()
