"""The plan assessor's formulas (FuRePA, section 3.2): decide, filter, score. Pure functions, the paper's symbols."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Literal

from langgraph_evidence.text import normalise_answer, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph_evidence.methods.furepa.settings import FurepaSettings
    from langgraph_evidence.methods.furepa.state import Plan

_NOISE = -1


def decide(held: int, plans: Sequence[Plan], *, threshold: float) -> list[Plan]:
    """Plan decision (eq. 5): the answer plans A_t when enough plans answer, otherwise the query plans Q_t.

    The paper's t > 0 says that there is evidence; |E_t| says it also after an edit, and where a first search failed.

    A reply that follows no format is no plan, so it counts neither for nor against an answer.
    """
    answers = [plan for plan in plans if plan["kind"] == "answer"]
    queries = [plan for plan in plans if plan["kind"] == "search"]
    share = len(answers) / (len(answers) + len(queries)) if answers else 0.0
    return answers if held and answers and share >= threshold else queries


def assess(
    held: int, plans: Sequence[Plan], executed: Sequence[str], settings: FurepaSettings
) -> tuple[Literal["answer", "search", "nothing"], list[Plan]]:
    """The assessor A (eq. 4) up to the scores: what is decided, and the plans to answer from or to search by.

    Switched off, the first plan is followed; by it a query is executed though it was executed before.
    """
    usable = [plan for plan in plans if plan["kind"] in {"search", "answer"}]
    chosen = decide(held, usable, threshold=settings.threshold) if settings.assess else usable[:1]
    if not chosen:
        return "nothing", []
    if chosen[0]["kind"] == "answer":
        return "answer", chosen
    if not settings.assess:
        return "search", chosen
    kept = filter_queries([plan["text"] for plan in chosen], executed, **settings.filter())
    return "search", [chosen[index] for index in kept]


def majority_answer(answers: Sequence[Plan]) -> Plan:
    """The first plan of the commonest answer; of equally common ones, the one proposed first.

    The paper takes any answer plan (section 3.2.1); the vote costs nothing and is steadier.
    """
    counts = Counter(normalise_answer(plan["text"]) for plan in answers)
    return max(answers, key=lambda plan: counts[normalise_answer(plan["text"])])


def bag_of_words(query: str) -> Counter[str]:
    """The features of a query in the filter: counts of its words (section 4.1).

    Case is folded and one-letter words are left out, as the usual count vectoriser does; with it, and only with it, the
    plan sets of the paper's case studies fall into the clusters that eps = 2 is meant to make.
    """
    return Counter(term for term in terms(query) if len(term) > 1)


def distance(a: Counter[str], b: Counter[str]) -> float:
    """Euclidean distance of two bags of words."""
    return math.sqrt(sum((a[word] - b[word]) ** 2 for word in a.keys() | b.keys()))


def near(a: Counter[str], b: Counter[str], *, eps: float, differing: float) -> bool:
    """Whether two queries may ask the same: at most eps apart, and at most a share of their words differing.

    The share is ours. Within eps = 2 four words may differ, which is every word of two short queries: "Lothair's
    mother" would be dropped because "Lothair's father" was executed. A long query with the name that the evidence has
    brought is no old one either. 1 is the paper's filter.
    """
    words = a.total() + b.total()
    return distance(a, b) <= eps and ((a - b) + (b - a)).total() <= differing * words


def dbscan(points: Sequence[Counter[str]], *, eps: float, min_cluster: int, differing: float = 1.0) -> list[int]:
    """Density-based clustering (Ester et al. 1996): the number of each point's cluster, -1 for noise.

    A point is a core when at least `min_cluster` points, itself among them, are `near` it; clusters grow from core
    to core, and a border point goes to the first cluster that reaches it.
    """
    beside = [
        [j for j, other in enumerate(points) if near(point, other, eps=eps, differing=differing)] for point in points
    ]
    labels = [_NOISE] * len(points)
    cluster = 0
    for start in range(len(points)):
        if labels[start] != _NOISE or len(beside[start]) < min_cluster:
            continue
        reached = [start]
        while reached:
            point = reached.pop()
            if labels[point] != _NOISE:
                continue
            labels[point] = cluster
            if len(beside[point]) >= min_cluster:
                reached.extend(beside[point])
        cluster += 1
    return labels


def medoid(members: Sequence[int], points: Sequence[Counter[str]]) -> int:
    """The member with the smallest summed distance to the others: the paper's "central example"."""
    return min(members, key=lambda i: sum(distance(points[i], points[j]) for j in members))


def filter_queries(
    candidates: Sequence[str], executed: Sequence[str], *, eps: float, min_cluster: int, differing: float = 1.0
) -> list[int]:
    """Query filter (section 3.2.2): indexes of the candidates that ask for something new, in their order.

    Candidates and executed queries are clustered together; a cluster that holds an executed query is dropped, of every
    other one the medoid stays. Noise is a cluster of its own: the paper leaves `min_samples` open, and dropping noise
    would drop exactly the queries that differ most.
    """
    points = [bag_of_words(query) for query in [*candidates, *executed]]
    labels = dbscan(points, eps=eps, min_cluster=min_cluster, differing=differing)
    clusters: dict[int, list[int]] = {}
    for index, label in enumerate(labels):
        clusters.setdefault(label if label != _NOISE else -2 - index, []).append(index)
    fresh = [members for members in clusters.values() if max(members) < len(candidates)]
    return sorted(medoid(members, points) for members in fresh)


def predicted_score(s: Sequence[float]) -> float:
    """Predicted reciprocal rank of a query (eq. 10): one over the passages it is confused by, 0 when it finds none.

    The paper writes the count with sgn(2 s - 1), which would be -1 for every other passage; it is read as an indicator.
    """
    count = sum(1 for s_j in s if s_j > 0.5)
    return 1.0 / count if count else 0.0


def rank_queries(scores: Sequence[Sequence[float]]) -> list[int]:
    """Indexes of the queries, best first: by eq. 10, then by the training score 1 / sum s_j (eq. 8), then in order.

    The paper leaves ties open, which are common because eq. 10 takes few values. On fold 7 the chosen query's
    reciprocal rank is .85 this way and .80 when the most relevant passage breaks them. Queries that find nothing are
    ordered by their most relevant passage: among them a small sum is no merit.
    """

    def key(index: int) -> tuple[float, float]:
        predicted, row = predicted_score(scores[index]), scores[index]
        return -predicted, sum(row) if predicted else -max(row, default=0.0)

    return sorted(range(len(scores)), key=key)
