"""What the words alone say about a premise and a hypothesis: overlap, numbers, names, negation.

Every function here is pure and reads text only. The features go beside the encoder's reading into the entailment head,
and the sentence choice packs a long premise into what the encoder can read.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Not the text room's sentences: line breaks (titles, tables) end a sentence here, and the shipped head was trained on
# features of sentences cut like this; the other cut changes what it reads of 3% of the held-out premises.
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])|\n+")
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*", re.UNICODE)
_NEGATIONS = frozenset(["not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot", "t"])
# Not the text room's words, stop words and stems, for the same reason: each feature is a count of these.
_STOP = frozenset(
    """a an the of in on at to for from by with as and or but if than that this these those it its he she
    they his her their him them who whom whose which what when where why how is are was were be been
    being am do does did has have had will would can could may might shall should must there here into
    over under about after before between during through also both s d ll re ve i you we my your our not
    no t so such only very just other another some any all each more most""".split()
)
_COUNTED = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty""".split()
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_COUNTED)} | {
    "thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000", "million": "1000000",
    "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "once": "1", "twice": "2",
}  # fmt: skip
_SUFFIXES = ("ations", "ation", "ingly", "ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "s")
_STEM_LENGTH = 3
_PREFIX_LENGTH = 5
# The runs take time by the product of both lengths; no sentence is longer.
_LONGEST_RUN = 200
# About 512 tokens with the hypothesis.
_FULL_SIZE_WORDS = 330

FEATURES = (
    "word coverage", "rare word coverage", "all word coverage", "bigram coverage", "best sentence coverage",
    "prefix coverage", "longest shared run", "shared subsequence", "numbers missing", "has numbers", "names missing",
    "has names", "negation added", "negation dropped", "hypothesis length", "premise length", "length ratio",
    "order kept", "missing words", "is question",
)  # fmt: skip
"""The name of each feature, in the order `lexical_features` returns them."""


def split_sentences(text: str) -> list[str]:
    """Splits a text at sentence ends and line breaks; no character but white space is lost."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


def is_question(text: str) -> bool:
    """Whether a hypothesis asks instead of states; then "entailed" means that the premise answers it."""
    stripped = text.rstrip(" \"')")
    first = stripped.split(" ", 1)[0].lower()
    return stripped.endswith("?") or (
        first in {"what", "who", "whom", "whose", "which", "why", "how"} and not stripped.endswith((".", "!"))
    )


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word with its case and inflection taken off; a number word becomes its digits."""
    word = word.lower()
    if word in _NUMBER_WORDS:
        return _NUMBER_WORDS[word]
    if word[:1].isdigit():
        return word.replace(",", "").removesuffix("s").removesuffix("th")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _STEM_LENGTH:
            return word[: -len(suffix)].removesuffix("e")
    return word.removesuffix("e") if len(word) > _STEM_LENGTH else word


def words(text: str) -> list[str]:
    """The words and numbers of a text as written, without punctuation."""
    return _WORD.findall(text)


def content_stems(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order; all words where a text has none of these."""
    tokens = words(text)
    return [stem(token) for token in tokens if token.lower() not in _STOP] or [stem(token) for token in tokens]


def coverage(parts: Sequence[object], whole: Sequence[object]) -> float:
    """The share of `parts` that occur in `whole`; 0 where there is no part."""
    known = set(whole)
    return sum(part in known for part in parts) / len(parts) if parts else 0.0


def word_overlap(premise: str, hypothesis: str) -> float:
    """The share of the hypothesis's content words that the premise has: the baseline every trained head must beat."""
    return coverage(content_stems(hypothesis), content_stems(premise))


def _weighted_coverage(parts: Sequence[str], whole: Sequence[str]) -> float:
    known = set(whole)
    total = sum(len(part) for part in parts)
    return sum(len(part) for part in parts if part in known) / total if total else 0.0


def _runs(parts: Sequence[str], whole: Sequence[str]) -> tuple[float, float]:
    """The longest common run and the longest common subsequence, as shares of `parts`."""
    parts, whole = parts[:_LONGEST_RUN], whole[:_LONGEST_RUN]
    if not parts or not whole:
        return 0.0, 0.0
    run, best_run = [0] * (len(whole) + 1), 0
    shared = [0] * (len(whole) + 1)
    for part in parts:
        new_run, new_shared = [0], [0]
        for column, other in enumerate(whole, start=1):
            same = part == other
            new_run.append(run[column - 1] + 1 if same else 0)
            new_shared.append(shared[column - 1] + 1 if same else max(shared[column], new_shared[-1]))
        best_run = max(best_run, *new_run)
        run, shared = new_run, new_shared
    return best_run / len(parts), shared[-1] / len(parts)


def _missing(parts: Sequence[str], whole: Sequence[str]) -> tuple[float, float]:
    """The share of `parts` that `whole` lacks, and whether there are any parts."""
    return (1.0 - coverage(parts, whole), 1.0) if parts else (0.0, 0.0)


def _names(text: str) -> list[str]:
    """Stems of the capitalised words but the first of the text."""
    return [stem(token) for token in words(text)[1:] if token[:1].isupper()]


def _order_kept(parts: Sequence[str], whole: Sequence[str]) -> float:
    """The share of neighbouring shared words that come in the same order in both texts: who did it to whom."""
    first = {part: place for place, part in reversed(list(enumerate(whole)))}
    places = [first[part] for part in parts if part in first]
    pairs = list(itertools.pairwise(places))
    return sum(left <= right for left, right in pairs) / len(pairs) if pairs else 0.5


def lexical_features(premise: str, hypothesis: str) -> list[float]:
    """The features of one pair, each about 0 to 1, in the order of `FEATURES`."""
    premise_words, hypothesis_words = words(premise), words(hypothesis)
    premise_all = [stem(token) for token in premise_words]
    hypothesis_all = [stem(token) for token in hypothesis_words]
    content = content_stems(hypothesis)
    sentences = split_sentences(premise)
    scores = [coverage(content, content_stems(sentence)) for sentence in sentences]
    best = sentences[int(np.argmax(scores))] if scores else ""
    best_stems = [stem(token) for token in words(best)]
    run, shared = _runs(content, [part for part in best_stems if part in set(content)])
    numbers = [part for part in hypothesis_all if part[:1].isdigit()]
    negated = _is_negated(hypothesis_words), _is_negated(words(best))
    prefixes = [part[:_PREFIX_LENGTH] for part in content]
    return [
        coverage(content, premise_all),
        _weighted_coverage(content, premise_all),
        coverage(hypothesis_all, premise_all),
        coverage(list(itertools.pairwise(hypothesis_all)), list(itertools.pairwise(premise_all))),
        max(scores, default=0.0),
        coverage(prefixes, [part[:_PREFIX_LENGTH] for part in premise_all]),
        run,
        shared,
        *_missing(numbers, premise_all),
        *_missing(_names(hypothesis), premise_all),
        float(negated[0] and not negated[1]),
        float(negated[1] and not negated[0]),
        math.log1p(len(hypothesis_words)) / 4,
        math.log1p(len(premise_words)) / 6,
        min(2.0, len(hypothesis_words) / max(1, len(premise_words))),
        _order_kept(content, premise_all),
        min(8, sum(part not in set(premise_all) for part in content)) / 8,
        float(is_question(hypothesis)),
    ]


def _is_negated(tokens: Sequence[str]) -> bool:
    return any(token.lower() in _NEGATIONS for token in tokens)


def feature_matrix(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """The features of many (premise, hypothesis) pairs, shape (pairs, features)."""
    rows = [lexical_features(premise, hypothesis) for premise, hypothesis in pairs]
    return np.asarray(rows, dtype=np.float32).reshape(len(pairs), len(FEATURES))


def sentence_scores(sentences: Sequence[str], hypothesis: str) -> list[float]:
    """How much of the hypothesis each sentence covers, a word counting less the more sentences have it."""
    stems = [set(content_stems(sentence)) for sentence in sentences]
    seen_in = Counter(part for sentence in stems for part in sentence)
    weights = {
        part: math.log(1 + len(sentences) / seen_in[part]) for part in set(content_stems(hypothesis)) if seen_in[part]
    }
    return [sum(weights.get(part, 0.0) for part in sentence) / math.sqrt(4 + len(sentence)) for sentence in stems]


def pack_premise(premise: str, hypothesis: str, *, max_words: int) -> str:
    """The premise cut to the sentences that matter for the hypothesis, in their own order.

    A premise that fits is returned as it is. Otherwise the sentences that cover the hypothesis best are taken until
    `max_words` are spent; a sentence longer than what is left is cut.
    """
    if len(premise.split()) <= max_words:
        return premise
    sentences = split_sentences(premise)
    scores = sentence_scores(sentences, hypothesis)
    kept: dict[int, str] = {}
    left = max_words
    for place in sorted(range(len(sentences)), key=lambda index: (-scores[index], index)):
        tokens = sentences[place].split()[:left]
        kept[place] = " ".join(tokens)
        left -= len(tokens)
        if left <= 0:
            break
    return " ".join(kept[place] for place in sorted(kept))


def packed_pairs(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs with their premises cut to what a full-size model reads."""
    return [(pack_premise(premise, text, max_words=_FULL_SIZE_WORDS), text) for premise, text in pairs]
