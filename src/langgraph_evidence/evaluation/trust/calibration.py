"""Whether a score means what it says: reliability by bins, expected calibration error, and the diagram as SVG.

The bins are of equal width and the error is weighted by their counts (Naeini, Cooper and Hauskrecht 2015; Guo et al.
2017, arXiv 1706.04599).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from langgraph_evidence.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

BINS = 10
_SIDE, _LEFT, _TOP, _COUNTS = 320, 56, 36, 60


class Bin(NamedTuple):
    """The answers whose score lies in [low, high), the last one's high included.

    Args:
        low: The lower edge.
        high: The upper edge.
        answers: How many there are.
        score: Their mean score; 0 without any.
        right: The share of right ones; 0 without any.
    """

    low: float
    high: float
    answers: int
    score: float
    right: float


def reliability(scores: Sequence[float], right: Sequence[bool], *, bins: int = BINS) -> list[Bin]:
    """The bins of scores in [0, 1].

    Raises:
        InvalidInput: A score is no probability, or there is not one for each answer.
    """
    if len(scores) != len(right) or not all(0 <= score <= 1 for score in scores):
        raise InvalidInput(f"{len(scores)} scores for {len(right)} answers; give each a score from 0 to 1.")
    held: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for score, is_right in zip(scores, right, strict=True):
        held[min(bins - 1, int(score * bins))].append((score, is_right))
    return [_bin(number / bins, (number + 1) / bins, rows) for number, rows in enumerate(held)]


def _bin(low: float, high: float, rows: Sequence[tuple[float, bool]]) -> Bin:
    count = len(rows)
    if not count:
        return Bin(low, high, 0, 0.0, 0.0)
    return Bin(low, high, count, sum(score for score, _ in rows) / count, sum(right for _, right in rows) / count)


def calibration_error(bins: Sequence[Bin]) -> float:
    """The mean distance of score and share of right answers, weighted by the bins' counts; 0 without any."""
    total = sum(row.answers for row in bins)
    return sum(row.answers * abs(row.score - row.right) for row in bins) / total if total else 0.0


def reliability_svg(bins: Sequence[Bin], *, title: str, score: str = "support") -> str:
    """The reliability diagram: share of right answers by score, with the counts of the bins below.

    Args:
        bins: As `reliability` gives them.
        title: Written above.
        score: What the horizontal axis is called.
    """
    width, height = _LEFT + _SIDE + 24, _TOP + _SIDE + _COUNTS + 72
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" role="img">',
        f"<title>{_escaped(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="20" font-size="14">{_escaped(title)}</text>',
        *_axes(score),
        *(bar for row in bins for bar in _bars(row, max(1, *(other.answers for other in bins)))),
        f'<line x1="{_LEFT}" y1="{_y(0):g}" x2="{_x(1):g}" y2="{_y(1)}" stroke="#888" stroke-dasharray="4 4"/>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(share: float) -> float:
    return round(_LEFT + share * _SIDE, 1)


def _y(share: float) -> float:
    return round(_TOP + (1 - share) * _SIDE, 1)


def _axes(score: str) -> list[str]:
    foot = _TOP + _SIDE + _COUNTS + 48
    ticks = [step / 5 for step in range(6)]
    return [
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#333"/>',
        *(f'<text x="{_x(t):g}" y="{_y(0) + 16:g}" text-anchor="middle">{t:g}</text>' for t in ticks),
        *(f'<text x="{_LEFT - 6}" y="{_y(t) + 4:g}" text-anchor="end">{t:g}</text>' for t in ticks),
        f'<text x="{_x(0.5):g}" y="{foot}" text-anchor="middle">{_escaped(score)} (bars below: answers a bin)</text>',
        f'<text transform="translate(16 {_y(0.5):g}) rotate(-90)" text-anchor="middle">share right</text>',
    ]


def _bars(row: Bin, most: int) -> list[str]:
    if not row.answers:
        return []
    left, wide = _x(row.low) + 1, (row.high - row.low) * _SIDE - 2
    count, tall = _COUNTS * row.answers / most, row.right * _SIDE
    told = f"<title>{row.answers} answers, mean score {row.score:.2f}, {row.right:.2f} right</title>"
    return [
        f'<rect x="{left:g}" y="{_y(row.right):g}" width="{wide:g}" height="{tall:.1f}" fill="#9bb8dd">{told}</rect>',
        f'<circle cx="{_x(row.score):g}" cy="{_y(row.right):g}" r="3" fill="#123"/>',
        f'<rect x="{left:g}" y="{_y(0) + 24:g}" width="{wide:g}" height="{count:.1f}" fill="#bbb"/>',
    ]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
