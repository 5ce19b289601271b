"""Texts as words and sentences: the one place that knows how they are cut, compared and counted.

- `words`: lower-case runs of letters and digits; `terms`: the same for any script, scripts without spaces by pairs of
  characters; `tokens`: what a text is cut by, each with its place.
- `Language`, known by its code: its terms with inflection taken off, its stop words.
- `split_sentences`: sentences with their places; `normalise_answer`: the form in which answers are compared.

It imports nothing of this package but its errors. What trained weights were fitted to (`models`, `llm.offline`) keeps
its own word lists and stems beside those weights.
"""

from __future__ import annotations

from langgraph_evidence.text.answers import normalise_answer, unpunctuated
from langgraph_evidence.text.languages import LANGUAGES, STOP_WORDS, Language, content_words, language
from langgraph_evidence.text.sentences import Sentence, split_sentences
from langgraph_evidence.text.words import Token, holds, storable, terms, tokens, words

__all__ = [
    "LANGUAGES", "STOP_WORDS", "Language", "Sentence", "Token", "content_words", "holds", "language",
    "normalise_answer", "split_sentences", "storable", "terms", "tokens", "unpunctuated", "words",
]  # fmt: skip
