"""FuRePA's settings: the paper's values, each with its section."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from langgraph_evidence.settings import Settings, setting

Mask = Literal["both", "reasoning", "queries", "none", "both_no_cot", "none_from_scratch", "none_mask_at_answer"]
"""What the model is not shown of its earlier steps: the rows of the paper's Table 2."""


class FilterSettings(TypedDict):
    """The settings of the query filter, by the names of its parameters."""

    eps: float
    min_cluster: int
    differing: float


class FurepaSettings(Settings):
    """What a FuRePA run can be told."""

    iterations: int = setting(
        default=6, meaning="iterations T before an answer is forced", source="section 4.1", low=1, high=100
    )
    samples: int = setting(default=5, meaning="candidate plans n an iteration", source="section 4.1", low=1, high=64)
    threshold: float = setting(
        default=0.6,
        meaning="share of answer plans that ends the run, theta",
        source="eq. 5, section 4.1",
        low=0.0,
        high=1.0,
    )
    mask: Mask = setting(
        default="both", meaning="what the model is not shown of its earlier steps", source="section 4.3, Table 2"
    )
    assess: bool = setting(
        default=True, meaning="vote, filter and score the plans; false follows the first plan", source="section 3.2"
    )
    eps: float = setting(
        default=2.0, meaning="radius of the query clusters, in words", source="section 4.1", low=0.0, high=1000.0
    )
    differing: float = setting(
        default=0.05,
        meaning="share of two queries' words that may differ within a cluster; 1 is the paper's filter",
        source="ours: eps alone calls any two short queries the same, and a query with a new name an old one",
        low=0.0,
        high=1.0,
    )
    min_cluster: int = setting(
        default=1,
        meaning="queries that make a cluster",
        source="ours: not given; scikit-learn's 5 would call all noise",
        low=1,
        high=1000,
    )
    temperature: float | None = setting(
        default=0.2,
        meaning="first temperature tp0; none sends none, and then it never rises",
        source="section 4.1 (0.2 or 1.0)",
        low=0.0,
        high=2.0,
    )
    temperature_step: float = setting(
        default=0.8,
        meaning="rise of the temperature when no query is new",
        source="section 4.1 (0.8 or 0.5)",
        low=0.0,
        high=2.0,
    )
    temperature_limit: float = setting(
        default=1.5,
        meaning="highest temperature",
        source="ours: not given; providers refuse more than 2",
        low=0.0,
        high=2.0,
    )
    answer_temperature: float | None = setting(
        default=0.0,
        meaning="temperature of the forced answer; none sends none",
        source="ours: not given; one call has no use for chance",
        low=0.0,
        high=2.0,
    )
    candidates: int = setting(
        default=20,
        meaning="passages D a query is scored against",
        source="section 4.1: a question has 10 to 20 paragraphs",
        low=1,
        high=10_000,
    )
    evidence_words: int = setting(
        default=150,
        meaning="words of a passage that the model is shown",
        source="ours: bounds the prompt",
        low=10,
        high=100_000,
    )
    native_n: bool = setting(
        default=False, meaning="ask for all samples in one request (`n`)", source="ours: not every server honours n"
    )

    @property
    def plans_a_round(self) -> int:
        """The plans n of an iteration; without the assessor there is one to follow."""
        return self.samples if self.assess else 1

    def risen(self, temperature: float | None) -> float | None:
        """The next temperature: tp0 and the rises (eq. 1), capped; the paper neither caps nor resets it."""
        if temperature is None:
            return None
        return max(min(temperature + self.temperature_step, self.temperature_limit), temperature)

    def filter(self) -> FilterSettings:
        """What the query filter is told."""
        return FilterSettings(eps=self.eps, min_cluster=self.min_cluster, differing=self.differing)
