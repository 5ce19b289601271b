"""The finished tree as data, lines and a drawing."""

from typing import Any

from langgraph_evidence.methods.rebel import draw_tree, outline
from langgraph_evidence.methods.rebel.frames import ROOT, learned, open_children, root_frame
from langgraph_evidence.methods.rebel.protocol import SubQuestion
from langgraph_evidence.methods.rebel.settings import RebelSettings
from langgraph_evidence.methods.rebel.tree import tree_of


def tree() -> Any:
    settings = RebelSettings()
    root = root_frame('What is "it"];\nclick n0 <script>?', settings)
    frames: Any = open_children(root, [SubQuestion("A?", ()), SubQuestion("B?", ())], settings, dropped=[False, False])
    frames["0-1"] |= {"tool": "search", "stage": "done", **learned("a", "tool")}
    frames[ROOT] = {**root, "stage": "done", "children": list(frames), **learned("an answer", "memory")}
    return tree_of(frames)


def test_every_question_has_its_answer_and_where_it_comes_from() -> None:
    found = tree()
    assert list(found) == ["0", "0-1", "0-2"]
    assert (found["0-1"]["origin"], found["0-1"]["tool"]) == ("tool", "search")
    assert found["0-2"]["origin"] == "failed"
    assert "before this question was answered" in found["0-2"]["error"]


def test_the_outline_is_a_line_a_question() -> None:
    lines = outline(tree()).split("\n")
    assert lines[1:] == ["  A? -> a [tool search]", "  B? -> (none) [failed]"]
    assert len(lines) == 3


def test_the_drawing_keeps_texts_in_their_labels() -> None:
    drawing = draw_tree(tree())
    assert drawing.startswith("graph TD;\n")
    assert "n0 --> n0_1;" in drawing
    assert all(line.startswith("    n0") for line in drawing.split("\n")[1:])
    assert "<script>" not in drawing
    assert all(line.count('"') in {0, 2} for line in drawing.split("\n"))
