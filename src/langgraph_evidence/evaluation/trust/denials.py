"""True answers turned into false ones: denied, yes for no, or with subject and object in each other's place.

See `changes`: made for measuring alone, and nothing is shared with what the entailment head is trained on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.evaluation.trust.details import names, share_word
from langgraph_evidence.evaluation.trust.facts import Fact
from langgraph_evidence.evaluation.trust.items import made
from langgraph_evidence.evaluation.trust.statements import statement_of
from langgraph_evidence.evaluation.trust.verbs import BY_PAST, TRANSITIVE
from langgraph_evidence.text import holds, split_sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from langgraph_evidence.evaluation.trust.details import Detail
    from langgraph_evidence.evaluation.trust.items import Item
    from langgraph_evidence.types import Passage

OWN_WORDS = ", its own words"
"""Ends the source of facts that are sentences of the evidence itself."""
# A sentence with one of these denies or weakens something already.
_DENIED = re.compile(
    r"\b(?:not|never|no|none|neither|nor|nobody|nothing|without|few|hardly|barely|cannot|only|any|either|false|fake|"
    r"unless|if|whether|may|might|could|would|should|some|sometimes|often|usually|at least|can)\b|n't\b",
    re.IGNORECASE,
)
# Behind these stands a clause of its own, whose denial may leave the sentence true.
_CLAUSE = re.compile(r"\b(?:who|which|that|whose|whom|where|when|while|because|although|though|as|but|and)\b|[,;:(]")
_AUXILIARY = re.compile(r"\b(?:is|was|are|were|has been|have been|had been)\b")
_BE = {"is": "is not", "was": "was not", "are": "are not", "were": "were not"}
_PERFECT = {"has been": "has not been", "have been": "have not been", "had been": "had not been"}
_SHORTEST, _LONGEST = 6, 30
_PRONOUNS = frozenset("he she it they this these that those his her its their there here both some one".split())
_SAME_BOTH_WAYS = re.compile(
    r"\b(?:friends?|sisters?|brothers?|siblings?|cousins?|spouse|married|marry|partners?|rivals?|twins?|twinned|next|near|"
    r"border\w*|same|similar|like|equal|known|called|named|also|nicknamed|aka|between|with|and|or|versus|against|"
    r"neighbou?r\w*|met|contemporary|synonym|part|type|form|colleagues?|from|out)\b"
)
_ROLE = re.compile(
    r"The (?P<role>director|father|mother|composer|performer|founder|author|capital|son|daughter|producer|writer|king|"
    r"president|owner|manager|coach) of (?P<one>.+) (?P<be>is|was) (?P<other>.+)\."
)
_BETWEEN = re.compile(
    rf" (?:(?:{'|'.join(TRANSITIVE)})(?: (?:the|a|an))?(?: [a-z]+){{0,2}}"
    rf"|(?:is|was|were|are) (?:[a-z]+ )?(?:{'|'.join(verb.participle for verb in TRANSITIVE.values())}) by(?: the)?"
    r"|(?:is|was) (?:a|an|the|one of the) [a-zA-Z0-9' -]{2,50}? (?:of|in|by|at)(?: the)?"
    r"|(?:is|was) (?:located |situated |based |set )?in(?: the)?"
    r"|(?:was|were) born in(?: the)?) "
)


def deny(fact: Fact) -> Item | None:
    """The opposite: a statement denied, yes for no and no for yes."""
    lowered = fact.answer.strip().lower()
    if lowered in {"yes", "no"}:
        return made(fact, "negation", "yes for no", "no" if lowered == "yes" else "yes")
    statement = statement_of(fact.question, fact.answer) if fact.question else fact.answer
    denied = denied_sentence(statement) if statement else None
    if denied is None:
        return None
    how = "a question and its answer, denied" if fact.question else "a statement denied"
    return made(fact, "negation", how, denied, question="")


def denied_sentence(sentence: str) -> str | None:
    """A sentence with its main verb denied; None where it is not plain which that is, or it denies already."""
    if _DENIED.search(sentence):
        return None
    clause = _CLAUSE.search(sentence)
    main = sentence[: clause.start()] if clause else sentence
    auxiliary = _AUXILIARY.search(main)
    if auxiliary is not None:
        denied = (_BE | _PERFECT)[auxiliary[0]]
        return sentence[: auxiliary.start()] + denied + sentence[auxiliary.end() :]
    verb = next(re.finditer(r"(?<![\w'’-])(?!of |the |and |for )[a-z]+", main), None)
    # What stands before it is a name; what follows shows that it is no participle.
    if verb is None or verb[0] not in BY_PAST or main[verb.end() :].startswith(" by"):
        return None
    return f"{sentence[: verb.start()]}did not {BY_PAST[verb[0]].base}{sentence[verb.end() :]}"


def swap(fact: Fact) -> Item | None:
    """Subject and object in each other's place, where what the one does to the other does not go both ways."""
    statement = statement_of(fact.question, fact.answer) if fact.question else fact.answer
    swapped = swapped_sentence(statement) if statement else None
    if swapped is None or not all(holds(fact.text, name.text) for name in names(f"of {swapped}")[:2]):
        return None
    how = "a question and its answer, swapped" if fact.question else "a statement swapped"
    return made(fact, "swap", how, swapped, question="")


def swapped_sentence(sentence: str) -> str | None:
    """A sentence with its two names in each other's place; None where it might be as true so."""
    role = _ROLE.fullmatch(sentence)
    if role is not None and not share_word(role["one"], role["other"]) and role["other"][0].isupper():
        return f"The {role['role']} of {role['other']} {role['be']} {role['one']}."
    found = names(f"of {sentence}")
    if len(found) < 2 or found[0].start != len("of "):
        return None
    one, other = (name._replace(start=name.start - 3, end=name.end - 3) for name in found[:2])
    if not _apart(sentence, one, other):
        return None
    return sentence[: one.start] + other.text + sentence[one.end : other.start] + one.text + sentence[other.end :]


def _apart(sentence: str, one: Detail, other: Detail) -> bool:
    between = sentence[one.end : other.start]
    goes_on = re.match(r"['’\w-]|,? (?:and|or) [A-Z]", sentence[other.end :])
    return (
        _BETWEEN.fullmatch(between) is not None
        and not _SAME_BOTH_WAYS.search(between)
        and not share_word(one.text, other.text)
        and not goes_on
        and not _DENIED.search(sentence)
    )


def sentence_facts(passages: Iterable[tuple[str, Passage]]) -> Iterator[Fact]:
    """Sentences of passages as facts: an answer that says what its source says, word for word.

    Left out are those that say "he" or "it" first, and so do not say of whom.

    Args:
        passages: The data set and the passage of each.
    """
    seen: set[str] = set()
    for source, passage in passages:
        for number, sentence in enumerate(split_sentences(passage["text"])):
            said = words(sentence.text)
            if sentence.text in seen or not _SHORTEST <= len(said) <= _LONGEST or said[0] in _PRONOUNS:
                continue
            seen.add(sentence.text)
            name = f"sentence:{passage['id']}:{number}"
            yield Fact(name, f"{source}{OWN_WORDS}", passage["title"], "", sentence.text, (), (passage,))
