"""The form in which answers are compared."""

from __future__ import annotations

import re
import string

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def unpunctuated(text: str) -> str:
    """Lower case, no ASCII punctuation, spaces squeezed."""
    return " ".join(text.lower().translate(_PUNCTUATION).split())


def normalise_answer(text: str) -> str:
    """An answer unpunctuated and without English articles: the normal form of the official scorers, to the letter.

    HotpotQA, 2WikiMultihopQA and MuSiQue have the same one; in other languages it leaves all words in place.
    """
    return " ".join(_ARTICLES.sub(" ", unpunctuated(text)).split())
