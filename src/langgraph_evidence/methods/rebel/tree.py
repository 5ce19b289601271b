"""The finished tree of questions, as data, as indented lines and as a mermaid drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.methods.rebel.frames import ROOT, in_order
from langgraph_evidence.methods.rebel.state import Node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from langgraph_evidence.methods.rebel.state import Frame

_UNFINISHED = "The run ended before this question was answered."
_LABEL = 80
# What would end a mermaid label, or begin markup in it.
_ENTITIES = str.maketrans({'"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;", "`": "'", "\\": "/", "&": "#amp;"})


def tree_of(frames: Mapping[str, Frame]) -> dict[str, Node]:
    """The tree of all questions by id, a question before its sub-questions; what was never answered has failed."""
    return {frame["id"]: _node(frame) for frame in in_order(frames)}


def _node(frame: Frame) -> Node:
    done = frame["stage"] == "done"
    return Node(
        id=frame["id"],
        parent=frame["parent"],
        question=frame["question"],
        answer=frame["answer"],
        origin=frame["origin"] if done else "failed",
        tool=frame["tool"] if frame["origin"] == "tool" else "",
        error=frame["error"] if done else frame["error"] or _UNFINISHED,
        children=list(frame["children"]),
    )


def outline(tree: Mapping[str, Node]) -> str:
    """The tree as text: a line a question, indented by its depth, with its answer and where that comes from."""
    return "\n".join(_lines(tree, ROOT, 0)) if ROOT in tree else ""


def _lines(tree: Mapping[str, Node], name: str, depth: int) -> Iterator[str]:
    node = tree[name]
    yield f"{'  ' * depth}{_flat(node['question'])} -> {_flat(node['answer']) or '(none)'} [{_source(node)}]"
    for child in node["children"]:
        yield from _lines(tree, child, depth + 1)


def draw_tree(tree: Mapping[str, Node]) -> str:
    """The tree as a mermaid graph; whatever the texts hold, they stay labels."""
    lines = ["graph TD;"]
    for node in tree.values():
        answer = _label(node["answer"]) or "(none)"
        lines.append(f'    {_name(node["id"])}["{_label(node["question"])}<br/>{answer} ({_label(_source(node))})"]')
        lines += [f"    {_name(node['id'])} --> {_name(child)};" for child in node["children"]]
    return "\n".join(lines)


def _name(node_id: str) -> str:
    return "n" + node_id.replace("-", "_")


def _source(node: Node) -> str:
    return f"tool {node['tool']}" if node["tool"] else node["origin"]


def _flat(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


def _label(text: str) -> str:
    flat = _flat(text)
    return (flat if len(flat) <= _LABEL else flat[: _LABEL - 1] + "…").translate(_ENTITIES)
