"""Acc-dagger (FuRePA section 4.1): a language model decides whether the prediction implies the gold answer."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.budget import total_usage
from langgraph_evidence.concurrency import gather
from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.llm.prompt import Prompt
from langgraph_evidence.types import no_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.evaluation.outcome import Outcome
    from langgraph_evidence.evaluation.question import Question
    from langgraph_evidence.llm.chat import LanguageModel
    from langgraph_evidence.types import Usage

# The wording of Iter-RetGen (Shao et al. 2023), from which FuRePA takes the metric.
_REQUEST = """\
In the following task, you are given a Question, a model Prediction for the Question, and a Ground-truth Answer to the \
Question. You should decide whether the model Prediction implies the Ground-truth Answer.

Question
$question

Prediction
$prediction

Ground-truth Answer
$answer

Does the Prediction imply the Ground-truth Answer? Output Yes or No:"""

JUDGE = Prompt(name="judge", messages=(("human", _REQUEST),), variables=("question", "prediction", "answer"))

_FIRST_WORD = re.compile(r"\W*(\w+)")


class Verdicts(NamedTuple):
    """What the judge said, by question id; None where two replies were neither yes nor no."""

    by_question: dict[str, bool | None]
    usage: Usage

    @property
    def accuracy(self) -> float:
        """The share of yes among all questions; a reply that cannot be read is no yes."""
        return sum(verdict is True for verdict in self.by_question.values()) / max(len(self.by_question), 1)


def parse_verdict(reply: str) -> bool:
    """Reads the reply's first word; a yes or no further on does not count.

    Raises:
        UnusableReply: The first word is neither.
    """
    first = _FIRST_WORD.match(reply)
    word = first[1].lower() if first else ""
    if word not in {"yes", "no"}:
        raise UnusableReply("The reply must begin with Yes or No.", reply=reply)
    return word == "yes"


async def judge_answers(
    model: LanguageModel,
    questions: Sequence[Question],
    outcomes: Sequence[Outcome],
    *,
    temperature: float | None = 0.0,
    concurrency: int = 8,
) -> Verdicts:
    """Judges every answer against the gold answer; an empty answer is wrong without a call.

    Args:
        model: The judge.
        questions: With gold answers; several of them are given together, separated by "; ".
        outcomes: Of the same questions, in the same order.
        temperature: Of its calls; None sends none.
        concurrency: How many judgements are under way at once.

    Raises:
        ModelError: A call failed for good.
    """
    places = asyncio.Semaphore(concurrency)

    async def judge(question: Question, outcome: Outcome) -> tuple[bool | None, Usage]:
        if not outcome["answer"].strip():
            return False, no_usage()
        values = {
            "question": question.question,
            "prediction": outcome["answer"],
            "answer": "; ".join(question.answers),
        }
        async with places:
            try:
                reply = await model.ask(JUDGE, values, parse=parse_verdict, temperature=temperature)
            except UnusableReply as unusable:
                return None, unusable.usage or no_usage()
        return reply.value, reply.usage

    judged = await gather([judge(*pair) for pair in zip(questions, outcomes, strict=True)])
    verdicts = {question.id: verdict for question, (verdict, _) in zip(questions, judged, strict=True)}
    return Verdicts(verdicts, total_usage(usage for _, usage in judged))
