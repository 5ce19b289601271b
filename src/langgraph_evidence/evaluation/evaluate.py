"""A method measured on a data set, beside one-shot retrieval of as many passages: what `evidence eval` runs."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_evidence.concurrency import run_sync
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.evaluation.baselines import as_many_as, one_shot
from langgraph_evidence.evaluation.datasets import load_data
from langgraph_evidence.evaluation.judge import judge_answers
from langgraph_evidence.evaluation.outcome import Journal, RunIdentity
from langgraph_evidence.evaluation.report import Report, ReportRow, report_row
from langgraph_evidence.evaluation.runner import graph_answerer, run_questions
from langgraph_evidence.evaluation.selected import by_selection
from langgraph_evidence.llm.chat import LanguageModel
from langgraph_evidence.llm.provider import open_model
from langgraph_evidence.methods import Components, Method, get_method
from langgraph_evidence.methods.furepa.offline import RESPONDERS
from langgraph_evidence.retrieval import open_index, retriever_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever

    from langgraph_evidence.evaluation.datasets import DataSet
    from langgraph_evidence.evaluation.outcome import Outcome
    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.evaluation.runner import Answerer
    from langgraph_evidence.retrieval.index import Kind
    from langgraph_evidence.settings import Settings


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """How an evaluation is run; none of it is a setting of the method.

    Args:
        index: A shared index that every question is asked over; None for each question's own paragraphs.
        kind: How own paragraphs are ranked.
        fixed_k: A further row, one-shot retrieval of so many passages; None leaves it out.
        direct: Whether one-shot retrieval also answers, with the same model.
        judge: A model that judges every answer (Acc-dagger); None leaves the column out.
        temperature: Of the one-shot answers and of the judge; None sends none.
        concurrency: Questions under way at once.
        runs: The folder that keeps every outcome, so that a killed evaluation goes on; None keeps nothing.
    """

    index: Path | None = None
    kind: Kind = "bm25"
    fixed_k: int | None = None
    direct: bool = True
    judge: BaseChatModel | str | None = None
    temperature: float | None = 0.0
    concurrency: int = 4
    runs: Path | None = None


def run_evaluation(
    method: str | Method,
    data: str | Path | DataSet,
    *,
    model: BaseChatModel | str = "offline",
    settings: Settings | None = None,
    fold: int | None = None,
    limit: int | None = None,
    options: EvaluationOptions | None = None,
    progress: Callable[[str, Outcome], None] | None = None,
) -> Report:
    """Measures a method beside one-shot retrieval of as many passages and of `fixed_k`, and each of its selections.

    Args:
        method: A method or its name.
        data: A data set, or what `load_data` reads and cuts to `fold` and `limit`.
        model: The language model of method and baseline.
        settings: The method's settings; its class's defaults when None.
        fold: The fold to keep.
        limit: How many questions of it.
        options: How it is run.
        progress: Is told the row's name and every new outcome.

    Raises:
        InvalidInput: Something given is not allowed, e.g. questions without own paragraphs and no index.
        ResourceError: The data or the index is missing or damaged.
        ModelError: The model refuses every call.
    """
    chosen = get_method(method) if isinstance(method, str) else method
    evaluation = _Evaluation(
        method=chosen,
        data=load_data(data, fold=fold, limit=limit) if isinstance(data, str | Path) else data,
        chat=open_model(model),
        model=model if isinstance(model, str) else LanguageModel(model).name,
        settings=settings or chosen.settings(),
        options=options or EvaluationOptions(),
        progress=progress,
    )
    return run_sync(evaluation.report())


@dataclass(frozen=True, kw_only=True)
class _Evaluation:
    method: Method
    data: DataSet
    chat: Any
    model: str
    settings: Settings
    options: EvaluationOptions
    progress: Callable[[str, Outcome], None] | None

    async def report(self) -> Report:
        retrievers = self._retrievers()
        outcomes = await self._run(self.method.name, self._graphs(retrievers), settings=self._settings)
        counts = as_many_as(outcomes)
        rows = [await self._row(self.method.name, outcomes)]
        for name, selected in by_selection(self.data.questions, outcomes):
            rows.append(report_row(f"{self.method.name}, {name}", self.data.questions, selected, facts=False))
        as_many = {"as_many_as": self._identity(self.method.name, self._settings).key}
        direct = LanguageModel(self.chat, responders=RESPONDERS) if self.options.direct else None
        rows.append(await self._baseline(retrievers, lambda question: counts[question.id], direct, as_many))
        if self.options.fixed_k is not None:
            k = self.options.fixed_k
            rows.append(await self._baseline(retrievers, lambda _: k, direct, {"k": k}))
        identity = self._identity(self.method.name, self._settings)
        return Report(self.data.name, rows, dataclasses.asdict(identity))

    @property
    def _settings(self) -> dict[str, Any]:
        return self.settings.model_dump()

    def _identity(self, name: str, settings: dict[str, Any]) -> RunIdentity:
        index = self.options.index
        retrieval = f"own paragraphs, {self.options.kind}" if index is None else f"index {_index_hash(index)}"
        return RunIdentity(
            method=name,
            model=self.model,
            data_sha256=self.data.sha256,
            version=version("langgraph-evidence"),
            settings=settings,
            retrieval=retrieval,
            fold=self.data.fold,
            limit=self.data.limit,
        )

    def _retrievers(self) -> Callable[[Question], BaseRetriever]:
        if self.options.index is not None:
            shared = open_index(self.options.index)
            return lambda _: shared
        bare = next((question for question in self.data.questions if not question.passages), None)
        if bare is not None:
            raise InvalidInput(
                f"Question {bare.id!r} of {self.data.name} brings no paragraphs; give an index of the shared corpus."
            )
        return lambda question: retriever_for(question.passages, self.options.kind)

    def _graphs(self, retrievers: Callable[[Question], BaseRetriever]) -> Answerer:
        def make(question: Question) -> Any:
            return self.method.create(Components(self.chat, retrievers(question)), self.settings).compile()

        if self.options.index is None:
            return graph_answerer(make, key=self.method.input_key)
        shared = make(self.data.questions[0])
        return graph_answerer(lambda _: shared, key=self.method.input_key)

    async def _baseline(
        self,
        retrievers: Callable[[Question], BaseRetriever],
        count: Callable[[Question], int],
        model: LanguageModel | None,
        settings: dict[str, Any],
    ) -> ReportRow:
        name = f"one-shot, k={settings['k']}" if "k" in settings else "one-shot, as many"
        settings = {**settings, "answers": model is not None, "temperature": self.options.temperature}
        answerer = one_shot(retrievers, count, model=model, temperature=self.options.temperature)
        outcomes = await self._run(name, answerer, settings=settings)
        return await self._row(name, outcomes, answers=model is not None)

    async def _run(self, name: str, answerer: Answerer, *, settings: dict[str, Any]) -> list[Outcome]:
        journal = None if self.options.runs is None else Journal(self.options.runs, self._identity(name, settings))
        progress = self.progress
        return await run_questions(
            answerer,
            self.data.questions,
            concurrency=self.options.concurrency,
            journal=journal,
            on_outcome=None if progress is None else lambda outcome: progress(name, outcome),
        )

    async def _row(self, name: str, outcomes: Sequence[Outcome], *, answers: bool = True) -> ReportRow:
        questions = self.data.questions
        if self.options.judge is None or not answers:
            return report_row(name, questions, outcomes, answers=answers)
        judge = LanguageModel(self.options.judge)
        verdicts = await judge_answers(judge, questions, outcomes, temperature=self.options.temperature)
        return report_row(name, questions, outcomes, judged=verdicts.by_question)


def _index_hash(index: Path) -> str:
    """The manifest names the checksum of every other file."""
    return hashlib.sha256((index / "manifest.json").read_bytes()).hexdigest()[:16]
