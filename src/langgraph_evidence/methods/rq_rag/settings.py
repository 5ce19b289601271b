"""RQ-RAG's settings: the paper's values, each with its section."""

from __future__ import annotations

from typing import Literal

from langgraph_evidence.settings import Settings, setting

PolicyName = Literal["auto", "trained", "prompted"]
"""What asks the model: control tokens that a trained model continues, prompts for any chat model, or what fits it."""

Exploration = Literal["chosen", "forced"]
"""Which actions a path tries: those that the model chooses (section 2.3), or all of them (the authors' code)."""


SelectionName = Literal[
    "ppl",
    "confidence",
    "ensemble",
    "ensemble_of_logs",
    "authors_ppl",
    "authors_confidence",
    "authors_ensemble",
    "support",
    "vote",
]
"""The paper's three; the ensemble as its formula stands; the authors' code's three; support by the evidence (ours); the
commonest answer."""


class RqRagSettings(Settings):
    """What an RQ-RAG run can be told."""

    depth: int = setting(
        default=2,
        meaning="searches on a path at most; 4 for 2WikiMultiHopQA and MuSiQue",
        source="appendix B.2: 2 for single hop and HotpotQA",
        low=0,
        high=16,
    )
    exploration: Exploration = setting(
        default="chosen",
        meaning="actions that a path tries: the likeliest up to the one that answers, or all",
        source="section 2.3; the authors' code forces all",
    )
    width: int = setting(
        default=3,
        meaning="actions that a path tries at most, where the model chooses",
        source="ours: the paper names no number, the authors' max_width of 3 is not used",
        low=1,
        high=4,
    )
    passages: int = setting(default=3, meaning="passages that a query brings", source="appendix B.4", low=1, high=50)
    unseen: bool = setting(
        default=True,
        meaning="a query brings passages that its path does not hold yet",
        source="ours: the paper's search may bring the same again",
    )
    select: SelectionName = setting(
        default="ensemble",
        meaning="which trajectory answers; without log-probabilities the vote does, and says so",
        source="section 4.2: best on multi-hop questions, confidence on single hop",
    )
    second_best: bool = setting(
        default=True,
        meaning="an answer below min_support gives way to the one that is supported best, before the run declines",
        source="ours",
    )
    checked: int = setting(
        default=24,
        meaning="answers that are checked against their evidence for the selection by support",
        source="ours: bounds the local model's work in deep trees",
        low=0,
        high=1000,
    )
    policy: PolicyName = setting(
        default="auto",
        meaning="control tokens for a model whose adapter is rq_rag, else prompts",
        source="ours: the paper trains its model",
    )
    tokens: Literal["smollm2", "paper"] = setting(
        default="smollm2",
        meaning="how the trained model's tokenizer writes the control tokens",
        source="ours: tokens that SmolLM2 has; the paper adds its own",
    )
    temperature: float | None = setting(
        default=0.0,
        meaning="temperature of every call; none sends none",
        source="ours: not given; the authors' code decodes greedily",
        low=0.0,
        high=2.0,
    )
    logprobs: bool = setting(
        default=True,
        meaning="ask for the log-probabilities that perplexity, confidence and ensemble are made of",
        source="section 2.3",
    )
    max_new_tokens: int = setting(
        default=100,
        meaning="tokens of a query or an answer of the trained model; what is cut there is no answer",
        source="the authors' scripts",
        low=1,
        high=4096,
    )
    max_context_tokens: int = setting(
        default=4096,
        meaning="tokens of a prompt at most, or fewer where the model says so; the oldest passages are shortened first",
        source="appendix B.1",
        low=64,
        high=10_000_000,
    )
    passage_chars: int = setting(
        default=2000, meaning="letters of a passage that the model is shown", source="ours", low=50, high=100_000
    )
    history: str = setting(
        default="",
        meaning="the conversation before the question, a turn a line, which the rewriting template is shown",
        source="Table 4",
    )
