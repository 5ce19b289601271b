"""The house rules that no linter knows (CONTRIBUTING.md): each fails the build."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tokenize
from collections.abc import Container, Mapping
from pathlib import Path

import pytest
from langgraph.checkpoint.serde._msgpack import STRICT_MSGPACK_ENABLED

from langgraph_evidence.methods import method_names

ROOT = Path(__file__).parents[2]
ROOMS = ("src", "graphs", "tools")
MAX_FILE = 300
MAX_FUNCTION = 40
MAX_P90 = 18
MAX_GRAPH = 200
LINES_A_WAIVER = 1000
HEAVY = ("torch", "transformers", "faiss", "bm25s", "rank_bm25", "sentence_transformers", "langchain_community")

WAIVER = re.compile(r"#\s*(?:noqa|type:\s*ignore)", re.IGNORECASE)
LEFT_TO_DO = re.compile(r"(?i:\A\W*todo\b)|\b(?:TODO|FIXME|TBD)\b")
GOOD_WAIVER = re.compile(r"#\s*(?:noqa:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*|type:\s*ignore\[[\w\-, ]+\])\s*(?:-|#)\s*\w+.*")


def python_files(*rooms: str) -> list[Path]:
    return sorted(path for room in rooms for path in (ROOT / room).rglob("*.py"))


def function_lengths(source: str) -> dict[str, int]:
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {f"{node.name}:{node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}


def bad_waivers(path: Path) -> list[str]:
    with path.open("rb") as handle:
        comments = [token for token in tokenize.tokenize(handle.readline) if token.type == tokenize.COMMENT]
    waivers = [token for token in comments if WAIVER.search(token.string)]
    return [f"{path}:{token.start[0]} {token.string}" for token in waivers if not GOOD_WAIVER.search(token.string)]


def modules() -> dict[str, Path]:
    found = {}
    for path in (ROOT / "src").rglob("*.py"):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name: str, tree: ast.AST, known: Container[str]) -> set[str]:
    """The package's modules that a module names anywhere: for types alone and inside functions too.

    `from room import thing` names the room's front door, `from room import module` the module alone.
    """
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {place if place in known else node.module for place in inner}
    return {place for place in found if place in known and place != name}


def in_cycles(edges: Mapping[str, set[str]]) -> set[str]:
    """What is left when modules that import none or that none imports are taken away, again and again: cycles alone."""
    left = {name: set(after) for name, after in edges.items()}
    while True:
        named = set().union(*left.values())
        kept = {name: after & left.keys() for name, after in left.items() if after & left.keys() and name in named}
        if kept == left:
            return set(kept)
        left = kept


def docstrings(source: str) -> list[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


def test_files_are_small() -> None:
    files = [path for path in python_files(*ROOMS, "benches") if path.name != "prompts.py"]
    sizes = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in files}
    assert {name: size for name, size in sizes.items() if size > MAX_FILE} == {}


def test_functions_are_small() -> None:
    lengths = {
        f"{path.relative_to(ROOT)}:{name}": length
        for path in python_files(*ROOMS)
        for name, length in function_lengths(path.read_text("utf-8")).items()
    }
    assert {name: length for name, length in lengths.items() if length > MAX_FUNCTION} == {}
    assert sorted(lengths.values())[int(0.9 * len(lengths))] <= MAX_P90


def test_graphs_are_short() -> None:
    graphs = list((ROOT / "src/langgraph_evidence/methods").glob("*/graph.py"))
    assert graphs
    assert [path for path in graphs if len(path.read_text("utf-8").splitlines()) > MAX_GRAPH] == []


def test_waivers_are_few() -> None:
    texts = [path.read_text("utf-8") for path in python_files("src")]
    waivers = sum(len(WAIVER.findall(text)) for text in texts)
    assert waivers * LINES_A_WAIVER <= sum(len(text.splitlines()) for text in texts)


def test_no_module_imports_itself_by_way_of_others() -> None:
    known = modules()
    edges = {name: imported(name, ast.parse(path.read_text("utf-8")), known) for name, path in known.items()}
    assert sum(map(len, edges.values())) > len(edges)
    assert in_cycles(edges) == set()


def test_the_cycle_rule_bites() -> None:
    source = "if TYPE_CHECKING:\n    from room.b import B\ndef f():\n    from room import c, thing\n    import room.d"
    known = {"room", "room.a", "room.b", "room.c", "room.d"}
    assert imported("room.a", ast.parse(source), known) == {"room", "room.b", "room.c", "room.d"}
    chain = {"a": {"b"}, "b": {"c"}, "c": set[str](), "d": {"a"}}
    assert in_cycles(chain) == set()
    assert in_cycles(chain | {"c": {"b"}}) == {"b", "c"}


def test_every_waiver_names_a_code_and_a_reason() -> None:
    assert [waiver for path in python_files(*ROOMS, "tests", "benches", "docs") for waiver in bad_waivers(path)] == []


@pytest.mark.parametrize(
    ("comment", "good"),
    [
        ("x = 1  # noqa", False),
        ("x = 1  # noqa: A001", False),
        ("x = 1  # noqa: A001 - the paper's name", True),
        ("x = 1  # noqa: A001, E501 - the paper's name", True),
        ("x = 1  # type: ignore", False),
        ("x = 1  # type: ignore[arg-type]", False),
        ("x = 1  # type: ignore[arg-type]  # the stub is wrong", True),
    ],
)
def test_the_waiver_rule_bites(comment: str, good: bool, tmp_path: Path) -> None:
    path = tmp_path / "waived.py"
    path.write_text(comment + "\n", "utf-8")
    assert (bad_waivers(path) == []) is good


def test_no_default_is_repeated_in_prose() -> None:
    repeated = [
        f"{path.relative_to(ROOT)}: {text.splitlines()[0]}"
        for path in python_files(*ROOMS)
        for text in docstrings(path.read_text("utf-8"))
        if re.search(r"\bdefaults?\s+to\b", text, re.IGNORECASE)
    ]
    assert repeated == []


def test_no_docstring_is_left_to_do() -> None:
    left = [
        str(path.relative_to(ROOT))
        for path in python_files(*ROOMS, "tests", "benches", "docs")
        if any(LEFT_TO_DO.search(text) for text in docstrings(path.read_text("utf-8")))
    ]
    assert left == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("TODO.", True),
        ("todo: say what is here", True),
        ("Reads it.\n\nTODO: say from where.", True),
        ("FIXME", True),
        ("A list of what is still to do.", False),
        ("", False),
    ],
)
def test_the_rule_of_docstrings_bites(text: str, left: bool) -> None:
    assert bool(LEFT_TO_DO.search(text)) is left


@pytest.mark.parametrize("room", ["models", "training"])
def test_every_folder_has_a_front_door(room: str) -> None:
    root = ROOT / "src/langgraph_evidence" / room
    for folder in {path.parent for path in root.rglob("*.py")} - {root}:
        door = importlib.import_module(".".join(folder.relative_to(ROOT / "src").parts))
        assert door.__doc__, folder
        assert [name for name in door.__all__ if not hasattr(door, name)] == []


def test_rooms_have_no_catch_all() -> None:
    names = {"utils", "util", "helpers", "common", "misc", "base"}
    rooms = {ROOT / "src/langgraph_evidence" / room / "base" for room in ("models", "training")}
    guilty = [path for path in python_files(*ROOMS) if path.stem in names or path.parent.name in names]
    assert [path for path in guilty if path.parent not in rooms] == []


def test_other_rooms_know_a_method_by_its_entry_alone() -> None:
    source = ROOT / "src/langgraph_evidence"
    files = [*(source / "cli").rglob("*.py"), *(source / "tools").rglob("*.py"), *(ROOT / "tools").glob("*.py")]
    files += [*(source / "llm").rglob("*.py"), *source.glob("[!_]*.py"), ROOT / "docs/generate.py"]
    guilty = []
    for path in files:
        tree = ast.parse(path.read_text("utf-8"))
        prose = {id(node.body[0].value) for node in ast.walk(tree) if hasattr(node, "body") and _is_prose(node)}
        words = [node for node in ast.walk(tree) if id(node) not in prose]
        named = " ".join(
            str(getattr(node, field, "")) for node in words for field in ("id", "attr", "name", "value", "module")
        )
        guilty += [f"{path.name}: {name}" for name in method_names() if name in named.lower()]
    assert guilty == []


def _is_prose(node: ast.AST) -> bool:
    """Whether a body begins with a docstring."""
    body = getattr(node, "body", None)
    return isinstance(body, list) and bool(body) and isinstance(body[0], ast.Expr)


def test_no_typed_dict_of_the_standard_library() -> None:
    # On Python 3.11 it makes a LangGraph server's schemas null.
    guilty = [
        path
        for path in python_files(*ROOMS)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        and node.module == "typing"
        and "TypedDict" in {name.name for name in node.names}
    ]
    assert guilty == []


@pytest.mark.parametrize(
    "module",
    [
        "langgraph_evidence",
        "langgraph_evidence.cli",
        "langgraph_evidence.llm.testing",
        "langgraph_evidence.models",
        "langgraph_evidence.models.remote",
        "langgraph_evidence.training",
    ],
)
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_checkpoints_are_read_back_strictly_in_the_whole_suite() -> None:
    assert STRICT_MSGPACK_ENABLED
