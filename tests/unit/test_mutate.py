"""The tool behind `make mutate`: what it says of an entry that cannot be tried, and what it calls killed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mutate
import pytest
from mutate import Mutation, complaints, read_mutations, verdict

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = "def larger(a: int, b: int) -> int:\n    return max(a, b)  # of a, b\n"
TEST = "from pkg import larger\n\n\ndef test_larger() -> None:\n    assert larger(1, 2) == 2\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/pkg.py").write_text(SOURCE)
    (tmp_path / "test_pkg.py").write_text(TEST)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return tmp_path


def slip(old: str, new: str, test: str = "test_pkg.py::test_larger", **more: Any) -> Mutation:
    return Mutation(**{"room": "toy", "file": "src/pkg.py", "old": old, "new": new, "tests": [test], **more})


def test_a_slip_is_killed_by_the_test_that_notices_it_and_taken_back(tree: Path) -> None:
    assert verdict(slip("max(", "min("), tree) == ("killed", "test_larger")
    assert (tree / "src/pkg.py").read_text() == SOURCE


@pytest.mark.parametrize(
    ("status", "words", "found"),
    [
        (0, "1 passed", ("survived", "")),
        (1, "FAILED a.py::test_b[1] - x\nFAILED a.py::test_c", ("killed", "test_b")),
        (1, "The tests hung.", ("killed", "The tests hung.")),
        (2, "SyntaxError", ("broken", "SyntaxError")),
        (-9, "", ("broken", "")),
    ],
)
def test_only_a_test_that_ran_and_failed_has_killed(
    tree: Path, monkeypatch: Any, status: Any, words: Any, found: Any
) -> None:
    def run(tests: list[str], root: Path) -> tuple[int, str]:
        assert "min(" in (root / "src/pkg.py").read_text()
        return status, words

    monkeypatch.setattr(mutate, "run_tests", run)
    assert verdict(slip("max(", "min("), tree) == found


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (slip("least(", "min("), "The text 'least(' is gone from src/pkg.py."),
        (slip("a, b", "b, a"), "The text 'a, b' stands 2 times in src/pkg.py."),
        (slip("max(", "min(", file="src/gone.py"), "There is no file src/gone.py."),
        (slip("max(", "min(", "test_pkg.py::test_least"), "There is no test test_pkg.py::test_least, "),
        (slip("max(", "min(", "tests/gone.py"), "There is no test tests/gone.py, "),
    ],
)
def test_what_is_gone_is_named(tree: Path, wrong: Mutation, complaint: str) -> None:
    assert complaints([slip("max(", "min(")], tree) == []
    (said,) = complaints([wrong], tree)
    assert said.startswith(complaint)


def test_the_list_can_be_read_and_every_slip_changes_something() -> None:
    mutations = read_mutations(mutate.ROOT / "tests/mutations.toml")
    assert len(mutations) >= 40
    assert all(each.old != each.new for each in mutations)
    assert len({(each.file, each.old, each.new) for each in mutations}) == len(mutations)
