"""Local models, inference only: one room a model, with the same name in `training`.

| room | what it holds |
|---|---|
| `base` | the shared encoder, adapters over it, and how full-size models are loaded and shared |
| `query_scorer` | which query would find its passage first (FuRePA) |
| `entailment` | whether passages entail a sentence |
| `reader` | the answer that passages give, or that they give none |
| `sentence_ranker` | which sentences matter to a question or claim |
| `progress_reward` | how good a partial answer is (Think&Cite) |
| `causal` | causal language models: one loader, one way to write, one likelihood |
| `remote` | models behind a scoring server |

Here are the models that a process shares, each loaded once, whoever asks first; naming them loads nothing. All else is
imported from a room's own front door (`from langgraph_evidence.models.reader import Reader`), which loads torch.
`weights/` holds what is shipped, with a card each.

Every `default_<model>` stands on the shared encoder and raises ResourceError where weights are missing or altered,
MissingExtra where the local models are not installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_evidence.models.shared import default_encoder, loading, once

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph_evidence.citations import AnswerVerifier
    from langgraph_evidence.models.entailment import Entailment
    from langgraph_evidence.models.query_scorer import QueryScorer
    from langgraph_evidence.models.reader import Reader
    from langgraph_evidence.models.sentence_ranker import SentenceRanker

__all__ = [
    "default_encoder",
    "default_entailment",
    "default_query_scorer",
    "default_reader",
    "default_sentence_ranker",
    "default_verifier",
    "loading",
    "once",
    "verifier_or_default",
]


@once
def default_query_scorer() -> QueryScorer:
    """The scorer of a graph that is given none: the shipped listwise head."""
    from langgraph_evidence.models.query_scorer import ListwiseQueryScorer

    return ListwiseQueryScorer.load(encoder=default_encoder())


@once
def default_entailment() -> Entailment:
    """The shipped entailment head."""
    from langgraph_evidence.models.entailment import Entailment

    return Entailment.load(encoder=default_encoder())


@once
def default_reader() -> Reader:
    """The shipped reader."""
    from langgraph_evidence.models.reader import Reader

    return Reader.load(encoder=default_encoder())


@once
def default_sentence_ranker() -> SentenceRanker:
    """The shipped sentence ranker."""
    from langgraph_evidence.models.sentence_ranker import SentenceRanker

    return SentenceRanker.load(encoder=default_encoder())


@once
def default_verifier() -> AnswerVerifier:
    """The verifier of a graph that is given none: the shipped sentence ranker, entailment head and reader."""
    from langgraph_evidence.citations import Calibration, Verifier

    # Fitted on fold 7, right and wrong answers weighing the same, since how often a host's model is right is the host's
    # to know: on 366 best guesses of the reader, and on statements, reworded or with one fact changed (docs/trust.md).
    return Verifier(
        default_entailment(),
        default_sentence_ranker(),
        reader=default_reader(),
        calibration=Calibration(slope=0.988, intercept=-0.210),
        of_sentences=Calibration(slope=0.924, intercept=-0.491),
    )


def verifier_or_default(verifier: AnswerVerifier | None) -> Callable[[], AnswerVerifier]:
    """What a graph's runs call for their verifier: the given one, or the process's own, loaded at the first call."""
    return lambda: verifier or default_verifier()
