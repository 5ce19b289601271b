"""What a language's words are: which carry no meaning, and which are one word in two forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.text.words import terms, words

if TYPE_CHECKING:
    from collections.abc import Callable

# Function words of a question find nothing but long postings; they stay in the index for passages named by them alone.
STOP_WORDS = frozenset(
    "a about after also an and any are as at be been both but by can could did do does during each for from had has "
    "have he her him his how i if in into is it its may me more most my no not of on or our over she should so some "
    "such than that the their them then there these they this those through to under until up was we were what when "
    "where which while who whom whose why will with would you your".split()
)
"""English words that carry no meaning by themselves."""

# Snowball's stemmers, by the language's code.
_STEMMERS = dict(
    pair.split(":")
    for pair in (
        "ar:arabic ca:catalan cs:czech da:danish de:german el:greek es:spanish et:estonian eu:basque fa:persian "
        "fi:finnish fr:french ga:irish hi:hindi hu:hungarian hy:armenian id:indonesian it:italian lt:lithuanian "
        "ne:nepali nl:dutch no:norwegian pl:polish pt:portuguese ro:romanian ru:russian sr:serbian sv:swedish ta:tamil "
        "tr:turkish yi:yiddish"
    ).split()
)
# Those that bm25s has stop words for; without, a question's function words count for as little as they are common.
_STOPPED = frozenset("da de es fr it nl no pt ru sv tr".split())
_UNSPACED = "ja km ko lo my th zh".split()

LANGUAGES = tuple(sorted(["en", *_STEMMERS, *_UNSPACED]))
"""The codes (ISO 639-1) of all languages that are known."""


@dataclass(frozen=True)
class Language:
    """How the words of one language are read.

    Args:
        code: Its ISO 639-1 code.
        stop_words: Words that carry no meaning by themselves, as `split` gives them.
        split: Cuts a text into words.
        stem: Takes the inflection off a word.
    """

    code: str
    stop_words: frozenset[str] = field(repr=False)
    split: Callable[[str], list[str]] = field(repr=False)
    stem: Callable[[str], str] = field(repr=False)

    def words(self, text: str) -> list[str]:
        """The words of a text, in order, without inflection."""
        return [self.stem(word) for word in self.split(text)]

    def query_words(self, query: str) -> list[str]:
        """The words of a query without stop words, unless it has no others."""
        content = [word for word in self.split(query) if word not in self.stop_words]
        return [self.stem(word) for word in content] or self.words(query)


def language(code: str) -> Language:
    """The language of a code.

    English reads words as `words` does and takes a plural `s` off (measured on fold 7, own paragraphs, mean
    recall@2/3/5 of three data sets: 64.6 plain, 65.9 with the stemmer, 71.0 without stop words as well). All others
    read any script; a stemmer is Snowball's.

    Args:
        code: One of `LANGUAGES`.

    Raises:
        InvalidInput: It is none of them.
    """
    if code not in LANGUAGES:
        raise InvalidInput(f"There is no language {code!r}; there are {', '.join(LANGUAGES)}.")
    return _language(code)


@cache
def _language(code: str) -> Language:
    if code == "en":
        return Language(code, STOP_WORDS, words, singular)
    algorithm = _STEMMERS.get(code)
    return Language(code, _stop_words(algorithm) if code in _STOPPED else frozenset(), terms, _stem_of(algorithm))


def _stop_words(algorithm: str | None) -> frozenset[str]:
    from bm25s import stopwords

    listed: tuple[str, ...] = getattr(stopwords, f"STOPWORDS_{algorithm}".upper())
    return frozenset(term for word in listed for term in terms(word))


def _stem_of(algorithm: str | None) -> Callable[[str], str]:
    return partial(_snowball, algorithm) if algorithm else str


@lru_cache(maxsize=2**17)
def _snowball(algorithm: str, word: str) -> str:
    import snowballstemmer

    # One stemmer a word: it keeps its place in the word, which two threads must not share.
    return str(snowballstemmer.stemmer(algorithm).stemWord(word))


def singular(word: str) -> str:
    """A lower-case English word without its plural `s` (the S stemmer of Harman 1991)."""
    if not word.endswith("s") or len(word) < 3:
        return word
    if len(word) > 3 and word.endswith("ies") and word[-4] not in "ae":
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    return word[:-1] if word[-2] not in "us" else word


def content_words(text: str) -> set[str]:
    """The words of a text of any script that carry meaning: without the stop words of English."""
    return {term for term in terms(text) if term not in STOP_WORDS}
