"""Whether two subjects share a property ("Are A and B both magazines?"), where their passages say it in these words.

Pure functions. Of 33 such questions of HotpotQA (folds 0-6) whose words all stand in both passages, all have yes for
their answer. Where a word is lacking it may be there in other words, so that the model decides.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.models.reader.comparison import WorkedOut, mentioned, plain
from langgraph_evidence.text import STOP_WORDS, language, words

if TYPE_CHECKING:
    from collections.abc import Sequence

_BOTH = re.compile(r"\b(?:both|each)\b", re.IGNORECASE)
# What frames the property in a question and says nothing of it.
_FRAME = frozenset("both each type kind located considered known".split())


def shared_property(question: str, passages: Sequence[str]) -> WorkedOut:
    """Yes where the passages of both subjects that a polar question names hold every word of what it asks of them.

    Args:
        question: The question, which wants yes or no.
        passages: The evidence, as `Title: text`.
    """
    titles = mentioned(question, passages)
    if not _BOTH.search(question) or len(titles) != 2:
        return WorkedOut(applies=False)
    asked = f" {plain(question)} "
    for title in titles:
        asked = asked.replace(f" {plain(title)} ", " ", 1)
    wanted = {word for word in _stems(asked) if len(word) > 1} - _FRAME
    held = [_stems(passage) for passage in passages if passage.partition(": ")[0] in titles]
    if not wanted or not all(wanted <= stems for stems in held):
        return WorkedOut(applies=False)
    return WorkedOut(applies=True, answer="yes")


def _stems(text: str) -> set[str]:
    stem = language("en").stem
    return {stem(word) for word in words(text) if word not in STOP_WORDS}
