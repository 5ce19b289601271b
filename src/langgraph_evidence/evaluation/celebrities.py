"""REBEL's tables (sections 4.2 and 4.3) with any model and tools: Compositional Celebrities, FEVER and HotpotQA.

A row takes so many questions of one category, drawn by a seed. An answer is right when it contains a gold answer; a
verdict is right when it is the label. The paper's own figures stand beside the measured ones.
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.evaluation.answers import cover_em
from langgraph_evidence.evaluation.outcome import declined
from langgraph_evidence.evaluation.question import GoldStep, Question
from langgraph_evidence.evaluation.runner import run_questions
from langgraph_evidence.evaluation.tables import markdown_table
from langgraph_evidence.retrieval.reading import json_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from langgraph_evidence.evaluation.outcome import Journal, Outcome
    from langgraph_evidence.evaluation.runner import Answerer

CATEGORIES = {
    "birthplace_rounded_lat": "birthplace rounded lat",
    "birthplace_currency": "birthplace currency",
    "birthplace_currency_symbol": "birthplace currency symbol",
    "birthyear_nobelLiterature": "birthyear Nobel literature",
    "birthdate_uspresident": "birthdate US president",
}
"""The categories of Compositional Celebrities that the paper asks, with the names of their rows."""

FEVER, HOTPOTQA = "FEVER", "HotpotQA"

PAPER: dict[str, tuple[int, int, int, int]] = {
    "birthplace rounded lat": (28, 16, 39, 59),
    "birthplace currency": (85, 95, 94, 94),
    "birthplace currency symbol": (35, 28, 45, 47),
    "birthyear Nobel literature": (33, 95, 90, 82),
    "birthdate US president": (53, 44, 91, 90),
    FEVER: (72, 77, 73, 78),
    HOTPOTQA: (63, 43, 46, 50),
}
"""Accuracy in percent with text-davinci-003 (Tables 1 to 4): ReAct, the model alone, REBEL without tools, REBEL."""

_PAPER_COLUMNS = ("ReAct", "model alone", "no tools", "REBEL")
_SUPPORTS = re.compile(r"\b(?:supports|supported|true|yes)\b", re.IGNORECASE)
_REFUTES = re.compile(r"\b(?:refutes|refuted|false|no)\b", re.IGNORECASE)


def load_celebrities(path: Path, *, count: int = 100, seed: int = 0) -> dict[str, list[Question]]:
    """Reads the paper's five categories of Compositional Celebrities.

    Args:
        path: JSON Lines with question, answer, category and the two hops q1, a1, q2, a2; `.gz` is read as well.
        count: Questions of each category.
        seed: Draws them.

    Returns:
        The questions by row.

    Raises:
        InvalidInput: The count is below one.
        ResourceError: The file is missing or broken, or has too few questions.
    """
    by_row: dict[str, list[Question]] = {row: [] for row in CATEGORIES.values()}
    for place, row in json_rows(path):
        if isinstance(row, dict) and row.get("category") in CATEGORIES:
            by_row[CATEGORIES[row["category"]]].append(_celebrity(place, row))
    return {row: _drawn(row, questions, count=count, seed=seed) for row, questions in by_row.items()}


def load_fever(path: Path, *, count: int = 100, seed: int = 0, fold: int | None = None) -> list[Question]:
    """Reads FEVER claims that are supported or refuted (section 4.2.2); the claim is asked as a question.

    Args:
        path: JSON Lines with claim and label; `.gz` is read as well.
        count: How many claims.
        seed: Draws them.
        fold: Draws from the claims of this fold only.

    Raises:
        InvalidInput: The count is below one.
        ResourceError: The file is missing or broken, or has too few claims.
    """
    claims = []
    for place, row in json_rows(path):
        if not isinstance(row, dict) or not isinstance(row.get("claim"), str):
            raise ResourceError(f"{place}: a claim is needed, with its label.")
        if row.get("label") in {"SUPPORTS", "REFUTES"} and fold in {None, row.get("fold")}:
            text = f'Is this claim true: "{row["claim"]}" Answer SUPPORTS or REFUTES.'
            claims.append(Question(str(row.get("id", place)), text, (str(row["label"]),), "fever", kind=FEVER))
    return _drawn(FEVER, claims, count=count, seed=seed)


def draw(questions: Sequence[Question], *, count: int, seed: int) -> list[Question]:
    """So many HotpotQA questions, drawn by a seed.

    Raises:
        InvalidInput: The count is below one.
        ResourceError: There are fewer.
    """
    return _drawn(HOTPOTQA, questions, count=count, seed=seed)


def _drawn(row: str, questions: Sequence[Question], *, count: int, seed: int) -> list[Question]:
    if count < 1:
        raise InvalidInput(f"A row of {count} questions was asked for; it takes at least one.")
    if len(questions) < count:
        raise ResourceError(f"The row {row!r} has {len(questions)} questions; {count} were asked for.")
    return random.Random(f"{seed}/{row}").sample(list(questions), count)


def _celebrity(place: str, row: Mapping[str, Any]) -> Question:
    try:
        golds = [str(answer) for answer in row["answer"]]
        steps = tuple(
            GoldStep(str(row[question]), ", ".join(map(str, row[answer])))
            for question, answer in (("q1", "a1"), ("q2", "a2"))
        )
        text, name = str(row["question"]), str(row["id"])
    except (KeyError, TypeError) as error:
        raise ResourceError(f"{place}: not a row of Compositional Celebrities ({error!r}).") from None
    return Question(name, text, tuple(golds), "compositional-celebrities", kind=row["category"], hops=2, steps=steps)


def is_right(question: Question, answer: str) -> bool:
    """Whether an answer contains a gold one, or a verdict is the label.

    HotpotQA's answers are compared in the normal form of its official scorer, which leaves out articles.
    """
    if question.dataset == "fever":
        supports, refutes = bool(_SUPPORTS.search(answer)), bool(_REFUTES.search(answer))
        return supports is not refutes and ("SUPPORTS" in question.answers) is supports
    if question.dataset == "hotpotqa":
        return bool(cover_em(answer, question.answers, whole_words=True))
    return any(_contains(answer, gold) for gold in question.answers)


def _contains(answer: str, gold: str) -> bool:
    """Whether the gold stands in the answer, case and spaces aside; a word or a number must stand there whole."""
    text, wanted = " ".join(answer.casefold().split()), " ".join(gold.casefold().split())
    before = r"(?<![\w.-])" if re.match(r"-?\d", wanted) else r"(?<!\w)" if wanted[:1].isalnum() else ""
    after = r"(?!\w|\.\d*[1-9])" if wanted[-1:].isdigit() else r"(?!\w)" if wanted[-1:].isalnum() else ""
    return bool(wanted) and re.search(before + re.escape(wanted) + after, text) is not None


@dataclass(frozen=True)
class Cell:
    """One method on one row: accuracy in percent over all questions, how many failed or declined, mean seconds."""

    accuracy: float
    questions: int
    failed: int
    declined: int
    seconds: float


@dataclass(frozen=True)
class Table:
    """Rows of categories, columns of methods, and the paper's columns."""

    cells: Mapping[str, Mapping[str, Cell]]

    def markdown(self) -> str:
        """The table for a page, with the seconds a question under it, and the failed runs where there are any."""
        methods = list(next(iter(self.cells.values()), {}))
        header = ["accuracy %", *methods, *(f"paper: {name}" for name in _PAPER_COLUMNS)]
        lines = []
        for row, cells in self.cells.items():
            measured = [f"{cells[name].accuracy:.0f}" for name in methods]
            lines.append([row, *measured, *(str(value) for value in PAPER.get(row, ("",) * 4))])
        return "\n".join([markdown_table(header, lines), "", *self._notes(methods)])

    def _notes(self, methods: Sequence[str]) -> list[str]:
        notes = []
        for name in methods:
            cells = [row[name] for row in self.cells.values()]
            asked = sum(cell.questions for cell in cells)
            seconds = sum(cell.seconds * cell.questions for cell in cells) / max(asked, 1)
            failed = sum(cell.failed for cell in cells)
            refused = sum(cell.declined for cell in cells)
            told = f"{failed} runs failed, {refused} declined to answer."
            notes.append(f"{name}: {asked} questions, {seconds:.2f} s a question, {told}")
        return notes


async def run_table(
    rows: Mapping[str, Sequence[Question]],
    methods: Mapping[str, Answerer],
    *,
    journal: Callable[[str, str], Journal] | None = None,
    concurrency: int = 4,
    on_outcome: Callable[[str, str, Outcome], None] | None = None,
) -> Table:
    """Asks every method every row.

    Args:
        rows: Questions by the row's name.
        methods: Answerers by the column's name.
        journal: The journal of a row and a method, so that a killed run goes on.
        concurrency: Questions under way at once.
        on_outcome: Is told row, method and every new outcome.

    Returns:
        The table; a failed run is a wrong answer, and counted.
    """
    cells: dict[str, dict[str, Cell]] = {}
    for row, questions in rows.items():
        cells[row] = {}
        for name, answerer in methods.items():

            def tell(outcome: Outcome, row: str = row, name: str = name) -> None:
                if on_outcome is not None:
                    on_outcome(row, name, outcome)

            kept = journal(row, name) if journal else None
            outcomes = await run_questions(answerer, questions, concurrency=concurrency, journal=kept, on_outcome=tell)
            cells[row][name] = _cell(questions, outcomes)
    return Table(cells)


def _cell(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> Cell:
    pairs = list(zip(questions, outcomes, strict=True))
    right = sum("error" not in outcome and is_right(question, outcome["answer"]) for question, outcome in pairs)
    return Cell(
        accuracy=100 * right / len(pairs),
        questions=len(pairs),
        failed=sum("error" in outcome for outcome in outcomes),
        declined=sum(map(declined, outcomes)),
        seconds=sum(outcome["seconds"] for outcome in outcomes) / len(pairs),
    )


def digest(questions: Sequence[Question]) -> str:
    """The hash of the questions of a row and their gold answers: what a result was measured on."""
    text = "\n".join(f"{question.id}\t{question.question}\t{question.answers}" for question in questions)
    return hashlib.sha256(text.encode()).hexdigest()
