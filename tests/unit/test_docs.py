"""The documentation is true: generated pages are current, code blocks run, links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langgraph.graph.state import CompiledStateGraph
from pydantic import ConfigDict, TypeAdapter, with_config
from trusting import TrustingVerifier

from langgraph_evidence import FurepaSettings, create_furepa, methods, retriever_for
from langgraph_evidence.citations import Checked
from langgraph_evidence.cli.app import run
from langgraph_evidence.data import sample_questions
from langgraph_evidence.llm.testing import ScriptedChat
from langgraph_evidence.methods.furepa.events import SCHEMAS
from langgraph_evidence.text import normalise_answer
from langgraph_evidence.training import heads
from langgraph_evidence.training.base.options import Progress, TrainResult
from langgraph_evidence.types import Passage

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(<!-- not run: (?P<reason>[^\n]+) -->\n)?^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE
)


class Block(NamedTuple):
    page: str
    language: str
    code: str
    reason: str


def blocks(language: str) -> list[Block]:
    found = [
        Block(page.name, match["language"], match["code"], match["reason"] or "")
        for page in PAGES
        for match in BLOCK.finditer(page.read_text("utf-8"))
    ]
    return [block for block in found if block.language == language]


def load_generator() -> Any:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_current() -> None:
    assert list(load_generator().stale()) == [], "run make docs"


def test_the_results_are_the_header_and_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(data: Path, folds: Any) -> list[heads.TableRow]:
        return [{"row": "trained", "f1": 0.75 if (data, folds) == (tmp_path, {7}) else 0.0}]

    stub = heads.Head("what one is for", lambda: TrainResult({}, Progress()), measure)
    monkeypatch.setattr(heads, "HEADS", {"one": stub, "other": stub})
    generator = load_generator()
    page = generator.results_page(tmp_path)
    assert run(["models", "eval", "--data", str(tmp_path), "--markdown"]) == 0
    assert page == generator.RESULTS + capsys.readouterr().out
    table = "| row | f1 |\n| --- | --- |\n| trained | 0.750 |\n"
    assert page.endswith(f"score.\n\n## one\n\nWhat one is for.\n\n{table}\n## other\n\nWhat one is for.\n\n{table}")


def test_the_page_of_results_has_the_header_and_a_table_of_every_head() -> None:
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    header, *sections = page.split("\n## ")
    assert header == load_generator().RESULTS
    heading = re.compile(r"(\w+)\n\n([^\n]+)\.\n\n(\|[^\n]+\|\n)+")
    found = [heading.fullmatch(section) for section in sections]
    assert [(match[1], match[2].lower()) for match in found if match] == [
        (name, head.meaning.lower()) for name, head in heads.HEADS.items()
    ]


OWN = {
    "In which year was the maker of the Trans-Oceanic founded?": {"1918"},
    "Where was Dhyan Chand born?": {"Allahabad"},
}


def right_answers() -> dict[str, set[str]]:
    """The accepted answers of every question that a page may ask."""
    sample = {row["question"]: {row["answer"], *row["aliases"]} for row in sample_questions()}
    return {
        question: {normalise_answer(answer) for answer in answers} for question, answers in {**sample, **OWN}.items()
    }


def wrong(answered: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The questions that are answered otherwise than they should be."""
    known = right_answers()
    return [(question, answer) for question, answer in answered if normalise_answer(answer) not in known[question]]


@pytest.mark.parametrize("page", sorted({block.page for block in blocks("python")}))
def test_python_blocks_of_a_page_run_in_their_order(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[tuple[str, str]] = []
    invoke = CompiledStateGraph.invoke

    def noted(self: Any, given: Any, *args: Any, **how: Any) -> Any:
        output = invoke(self, given, *args, **how)
        asked.extend([] if given is None else [given["question"]])
        if output["stopped"]:  # an interrupted run has no answer yet
            answered.append((asked[-1], output["answer"]))
        return output

    asked: list[str] = []
    monkeypatch.setattr(CompiledStateGraph, "invoke", noted)
    monkeypatch.setattr(methods, "_LOADERS", dict(methods._LOADERS))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks("python"):
        if block.page == page and not block.reason:
            exec(compile(block.code, page, "exec"), names)  # noqa: S102 - our own pages
    assert wrong(answered) == []
    assert len(answered) >= {"README.md": 3, "CONTRIBUTING.md": 1}.get(page, 0)


@pytest.mark.slow
def test_the_commands_of_the_pages_run_for_a_newcomer(tmp_path: Path) -> None:
    """In a shell that knows no `evidence`, beside the `.venv` that `make demo` makes; each answer is the right one."""
    lines = [
        line
        for block in blocks("bash")
        if not block.reason
        for line in block.code.splitlines()
        if not line.startswith("make ")
    ]
    asked = [shlex.split(line)[2] for line in lines if line.startswith("evidence ask")]
    script = "\n".join(f"{line} --json" if line.startswith("evidence ask") else line for line in lines)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    environment = {**os.environ, "PATH": os.defpath}
    done = subprocess.run(
        ["bash", "-e"], input=script, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line)["answer"] for line in done.stdout.splitlines() if line.startswith("{")]
    assert wrong(list(zip(asked, answers, strict=True))) == []
    assert len(asked) >= 3


def test_make_targets_of_the_pages_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = set(re.findall(r"^\s*make (\w+)", text, re.MULTILINE))
    assert {"demo", "test", "check", "setup"} <= named
    assert {target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_event_has_the_fields_that_its_page_names() -> None:
    passages = [Passage(id="p1", title="Gustave Eiffel", text="Gustave Eiffel was born in Dijon.")]
    model = ScriptedChat(rules=[("born in Dijon", "[Analysis] So.\n[Answer] Dijon"), ("", "[Search] Gustave Eiffel")])

    class Hesitant(TrustingVerifier):
        """Doubts at first."""

        doubted = False

        def check(self, question: str, answer: str, evidence: Sequence[Passage]) -> Checked:
            found = super().check(question, answer, evidence)
            support, self.doubted = (found.support if self.doubted else 0.0), True
            return found._replace(support=support)

    graph = create_furepa(
        model, retriever_for(passages), settings=FurepaSettings(samples=2), verifier=Hesitant()
    ).compile()
    events = list(graph.stream({"question": "Where was Eiffel born?"}, stream_mode="custom"))
    assert {event["type"] for event in events} == set(SCHEMAS)
    for event in events:
        assert json.loads(json.dumps(event)) == event
        payload = {name: value for name, value in event.items() if name not in {"type", "v"}}
        schema = with_config(ConfigDict(extra="forbid", strict=True))(SCHEMAS[event["type"]])
        TypeAdapter(schema).validate_python(payload)
