"""True answers said anew by rules that keep the meaning: does a verifier refuse them?

Date forms, numbers as words, synonyms of a small closed list, active and passive of a verb that has a plain one, a
clause moved to the front or the end, and a question with its answer as one sentence. See `changes`: made for
measuring alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langgraph_evidence.evaluation.trust.details import DATE, MONTHS, NUMBER_WORDS, names, ordinal
from langgraph_evidence.evaluation.trust.items import made
from langgraph_evidence.evaluation.trust.statements import statement_of
from langgraph_evidence.evaluation.trust.verbs import TRANSITIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from langgraph_evidence.evaluation.trust.facts import Fact
    from langgraph_evidence.evaluation.trust.items import Item

# Of the same meaning in the company that the pattern asks for.
_SYNONYMS: tuple[tuple[str, str], ...] = (
    (r"\bfilm\b", "movie"),
    (r"\bfilms\b", "movies"),
    (r"\bmovie\b", "film"),
    (r"\blocated in\b", "situated in"),
    (r"\bbegan\b", "started"),
    (r"(?<!was )(?<!were )(?<!is )(?<!been )\bstarted\b", "began"),
    (r"(?<!an )\bapproximately\b", "about"),
    (r"\bpurchased\b", "bought"),
    (r"\bwas founded\b", "was established"),
    (r"\bwas established\b", "was founded"),
    (r"\btook part in\b", "participated in"),
    (r"\bparticipated in\b", "took part in"),
    (r"\bis comprised of\b", "consists of"),
    (r"\bprior to\b", "before"),
    (r"\bduring\b", "in the course of"),
    (r"\bobtained\b", "got"),
    (r"\blargest\b", "biggest"),
    (r"\bphysician\b", "doctor"),
    (r"\bautomobile\b", "car"),
    (r"\battempted to\b", "tried to"),
    (r"\bbecause of\b", "owing to"),
    (r"(?<![Hh]ow )(?<!so )(?<!as )(?<!too )\bmany\b(?! of\b)", "numerous"),
    (r"\bpassed away\b", "died"),
    (r"\bthe United States\b", "the USA"),
    (r"\bthe United Kingdom\b", "the UK"),
)
_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(NUMBER_WORDS[2:])})(?![\w-]| hundred| thousand| million)")
_FRONT = re.compile(r"(?P<when>(?:In|On) (?:the )?[^,;()]{0,30}?\d{4}), (?P<rest>[A-Z\"'“a-z][^;()]+)\.")
_BACK = re.compile(
    r"(?P<rest>[A-Z](?:[^;:().]|\.(?! ))+?) (?P<when>(?:in|on) (?:(?:[A-Z][a-z]+ )?(?:\d\d?, )?)?(?:1[0-9]|20)\d\d)\."
)
_OTHER_CLAUSE = re.compile(r"\b(?:and|but|while|when|which|who|that|after|before|from|between|to)\b|,")
_BY_PARTICIPLE = {verb.participle: past for past, verb in TRANSITIVE.items()}
# The time may be that of a noun or a participle before it, and not of the sentence.
_OF_A_NOUN = re.compile(
    r"\b(?:is|are|(?:was|were) (?:an?|the|one))\b"
    rf"|(?<!was)(?<!were)(?<!been)(?<!first) (?:{'|'.join(_BY_PARTICIPLE)}|released|opened|completed)$"
)
_ACTIVE = re.compile(rf" (?P<verb>{'|'.join(TRANSITIVE)}) (?P<the>the (?:[a-z]+ )?|)")
_PASSIVE = re.compile(rf" was (?P<done>{'|'.join(_BY_PARTICIPLE)}) by (?P<the>the (?:[a-z]+ )?|)")
_TAIL = re.compile(r"(?: in (?:1[0-9]|20)\d\d)?\.")
_ROLES = {"director": "directed", "composer": "composed", "performer": "performed"}
_ROLE = re.compile(rf"The (?P<role>{'|'.join(_ROLES)}) of (?P<thing>.+) is (?P<one>.+)\.")


def _spelt(fact: Fact) -> str:
    """What is reworded: the statement, or the question and answer as one."""
    return (statement_of(fact.question, fact.answer) or "") if fact.question else fact.answer


def reword_date(fact: Fact) -> Item | None:
    """March 4, 1815 as 4 March 1815, that as the 4th of March 1815, and so on in a round."""
    changed = re.sub(rf"\b[Tt]he (?=(?:{'|'.join(MONTHS)}) \d)", "", DATE.sub(_other_form, fact.answer, count=1))
    return made(fact, "date form", "another form", changed) if changed != fact.answer else None


def _other_form(found: re.Match[str]) -> str:
    if found["month"]:
        return f"{int(found['day'])} {found['month']} {found['year']}"
    if found["month2"]:
        if ordinal(int(found["day2"])) in found[0]:
            return f"{found['month2']} {int(found['day2'])}, {found['year2']}"
        return f"the {ordinal(int(found['day2']))} of {found['month2']} {found['year2']}"
    return found[0]


def reword_number(fact: Fact) -> Item | None:
    """A number below twenty-one as a word, and a word as digits; 1,200 as 1200."""
    if re.search(rf"\b(?:{'|'.join(MONTHS)})\b", fact.answer):
        return None
    digits = re.search(r"(?<![\w.,$:/-])(?P<number>[2-9]|1\d|20)(?![\w%:/°-]|[.,]\d| [A-Z])", fact.answer)
    # Behind a capital it belongs to a name: Apollo 11.
    if digits and not re.search(r"(?<!^)[A-Z][\w'’]* $", fact.answer[: digits.start()]):
        word = NUMBER_WORDS[int(digits["number"])]
        changed = (
            fact.answer[: digits.start()]
            + (word if digits.start() else word.capitalize())
            + fact.answer[digits.end() :]
        )
        return made(fact, "number form", "digits as a word", changed)
    word_found = re.search(
        rf"(?<![\w-])(?:{'|'.join(NUMBER_WORDS[2:])})(?![\w-]| hundred| thousand| million)", fact.answer
    )
    if word_found:
        number = str(NUMBER_WORDS.index(word_found[0]))
        changed = fact.answer[: word_found.start()] + number + fact.answer[word_found.end() :]
        return made(fact, "number form", "a word as digits", changed)
    comma = re.search(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w.,-]\d)", fact.answer)
    if comma:
        changed = fact.answer[: comma.start()] + comma[0].replace(",", "") + fact.answer[comma.end() :]
        return made(fact, "number form", "without commas", changed)
    return None


def reword_synonym(fact: Fact) -> Item | None:
    """A word of the closed list for its synonym."""
    said = _spelt(fact)
    quoted = re.findall(r"[\"“][^\"”]*[\"”]", said)
    for pattern, other in _SYNONYMS:
        found = re.search(pattern, said)
        if found and not any(found[0] in part for part in quoted):
            changed = said[: found.start()] + other + said[found.end() :]
            return made(fact, "synonym", f"{found[0]}: {other}", changed, question="")
    return None


def reword_voice(fact: Fact) -> Item | None:
    """Jane Doe wrote Some Book: Some Book was written by Jane Doe; the other way round; a role as what it does."""
    said = _spelt(fact)
    role = _ROLE.fullmatch(said)
    if role is not None:
        changed = f"{role['thing']} was {_ROLES[role['role']]} by {role['one']}."
        return made(fact, "voice", "a role as a verb", changed, question="")
    found = [name._replace(start=name.start - 3, end=name.end - 3) for name in names(f"of {said}")]
    # What stands behind the second name may be of the verb ("in 1960") or of the name ("with him").
    if len(found) != 2 or found[0].start != 0 or not _TAIL.fullmatch(said[found[1].end :]):
        return None
    one, other = found
    between, tail = said[one.end : other.start], said[other.end :]
    active, passive = _ACTIVE.fullmatch(between), _PASSIVE.fullmatch(between)
    if active:
        thing = f"{active['the']}{other.text}"
        done = f"{thing[:1].upper()}{thing[1:]} was {TRANSITIVE[active['verb']].participle} by {one.text}{tail}"
        return made(fact, "voice", "active as passive", done, question="")
    if passive:
        doer = f"{passive['the']}{other.text}"
        did = f"{doer[:1].upper()}{doer[1:]} {_BY_PARTICIPLE[passive['done']]} {one.text}{tail}"
        return made(fact, "voice", "passive as active", did, question="")
    return None


def reword_order(fact: Fact) -> Item | None:
    """In 1960, it opened: It opened in 1960; and the other way round."""
    said = _spelt(fact)
    front = _FRONT.fullmatch(said)
    if front and not re.search(r"\b(?:and|but|while|when|which|who|after|before)\b|,", front["rest"]):
        rest = front["rest"]
        changed = f"{rest[:1].upper()}{rest[1:]} {front['when'][:1].lower()}{front['when'][1:]}."
        return made(fact, "clause order", "to the end", changed, question="")
    back = _BACK.fullmatch(said)
    if back and not _OTHER_CLAUSE.search(back["rest"]) and not _OF_A_NOUN.search(back["rest"]):
        rest = back["rest"]
        # A name keeps its capital; a sentence that begins otherwise loses it.
        named = names(f"of {rest}")
        first = rest if named and named[0].start == 3 else rest[:1].lower() + rest[1:]
        when = back["when"][:1].upper() + back["when"][1:]
        return made(fact, "clause order", "to the front", f"{when}, {first}.", question="")
    return None


def reword_question(fact: Fact) -> Item | None:
    """The question and its answer as one sentence."""
    statement = statement_of(fact.question, fact.answer) if fact.question else None
    return made(fact, "question as a sentence", "by rule", statement, question="") if statement else None


REWORDINGS: Mapping[str, Callable[[Fact], Item | None]] = {
    "date form": reword_date,
    "number form": reword_number,
    "synonym": reword_synonym,
    "voice": reword_voice,
    "clause order": reword_order,
    "question as a sentence": reword_question,
}
"""Each way and what makes it; None where it does not apply."""
