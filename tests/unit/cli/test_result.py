"""How the end of a run is told: sentences with their marks, quotes in place, conflicts, guesses, exit codes."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from langgraph_evidence.cli.ask import exit_code
from langgraph_evidence.cli.result import LEXICAL_NOTE, OWN_KNOWLEDGE_NOTE
from langgraph_evidence.cli.screen import Screen
from langgraph_evidence.types import Citation, Passage, no_usage

TARN = Passage(id="t", title="Tarn", text="# Tarn\nTarn is a river in France. It rises in a wood.")
BORN, DIED = "Ann Lee was born in Rome.", "She died in 1900 in Oslo"
LEE = Passage(id="o", title="Ann Lee", text=f"{BORN} {DIED}, and left a book. The end.")
ANSWER = "Tarn is in France. She wrote. She died in 1900."
SPANS = ((0, 18), (19, 29), (30, 47))


def cite(span: tuple[int, int], passage: Passage, quote: str, support: float) -> Citation:
    start = passage["text"].index(quote)
    return Citation(
        start=span[0], end=span[1], passage_id=passage["id"], title=passage["title"],
        quote=quote, quote_start=start, quote_end=start + len(quote), support=support,
    )  # fmt: skip


def found() -> dict[str, Any]:
    """A checked answer of three sentences: one supported and contradicted, one not, one in part."""
    marks = zip(SPANS, (0.97, 0.02, 0.4), ("supported", "unsupported", "partly"), strict=True)
    river = cite(SPANS[0], TARN, "# Tarn\nTarn is a river in France.", 0.97)
    otherwise = {**cite(SPANS[0], LEE, "Ann Lee was born in Rome.", 0.0), "contradiction": 0.95}
    return {
        "citations": [
            river,
            cite(SPANS[2], LEE, "She died in 1900 in Oslo", 0.4),
            {**river, "start": SPANS[2][0], "end": SPANS[2][1]},
        ],
        "sentences": [{"start": s, "end": e, "support": p, "verdict": v} for (s, e), p, v in marks],
        "conflicts": [otherwise],
        "support": 0.02,
    }


def output(**changes: Any) -> dict[str, Any]:
    whole = {"answer": ANSWER, "stopped": "answered", "cited_by": "verified", "guess": None, "usage": no_usage()}
    return {**whole, **found(), "evidence": [TARN, LEE], **changes}


def guessed(answer: str = "") -> dict[str, Any]:
    guess = {**found(), "answer": ANSWER, "why": "The evidence supports 'She wrote.' by 0.02; min_support is 0.50."}
    nothing: dict[str, Any] = {"citations": [], "sentences": [], "conflicts": []}
    return output(answer=answer, stopped="unsupported", guess=guess, **({} if answer else nothing))


def told(of: dict[str, Any], *, terminal: bool = False) -> list[str]:
    written = StringIO()
    Screen(console=Console(file=written, force_terminal=terminal, highlight=False, soft_wrap=True)).result(of)
    return written.getvalue().splitlines()


def test_each_sentence_has_its_mark_and_its_quotes_with_the_words_around_them() -> None:
    assert told(output())[:-1] == [
        f"Answer: {ANSWER} (answered, support 0.02)",
        "supported 0.97: Tarn is in France.",
        '  [1] Tarn (t): "Tarn is a river in France." It rises in a wood.',
        f'  ! Ann Lee (o) says otherwise (0.95): "{BORN}" {DIED}, and left a book. The end.',
        "not supported 0.02: She wrote.",
        "partly supported 0.40: She died in 1900. (see [1])",
        '  [2] Ann Lee (o): Ann Lee was born in Rome. "She died in 1900 in Oslo", and left a book. The end.',
    ]


def test_a_declined_run_says_so_and_calls_the_guess_one() -> None:
    lines = told(guessed())
    assert lines[:3] == [
        "Declined: no answer is given (unsupported).",
        f"Guess, not to be trusted: {ANSWER} (unsupported, support 0.02)",
        "Why: The evidence supports 'She wrote.' by 0.02; min_support is 0.50.",
    ]
    assert lines[3:] == told(output())[1:]
    assert not any(line.startswith("Answer") for line in lines)


def test_a_guess_that_was_asked_for_is_still_called_one() -> None:
    lines = told(guessed(ANSWER))
    assert lines[0] == f"Guess, as asked for: {ANSWER} (unsupported, support 0.02)"
    assert lines[1].startswith("Why: ")
    assert lines[2:] == told(output())[1:]


def test_an_answer_without_evidence_and_one_that_nothing_checked_say_so() -> None:
    bare: dict[str, Any] = {"evidence": [], "citations": [], "conflicts": []}
    lines = told(output(stopped="own_knowledge", support=0.0, **bare))
    assert lines[:2] == [f"Answer: {ANSWER} (own_knowledge)", OWN_KNOWLEDGE_NOTE]
    lines = told(output(cited_by="lexical"))
    assert lines[:3] == [
        f"Answer: {ANSWER} (answered)",
        LEXICAL_NOTE,
        "its facts are quoted, words 0.97: Tarn is in France.",
    ]
    assert not any("supported" in line for line in lines)


def test_what_an_earlier_version_stored_is_told_by_its_quotes() -> None:
    old = {key: output()[key] for key in ("answer", "citations", "evidence", "stopped", "usage")}
    lines = told(old)
    assert lines[0] == f"Answer: {ANSWER} (answered)"
    assert [line[:8] for line in lines[1:-1]] == ["  [1] Ta", "  [2] An"]


def test_nothing_in_an_answer_or_a_passage_commands_the_terminal() -> None:
    def hostile(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: hostile(part) for key, part in value.items()}
        if isinstance(value, list):
            return [hostile(part) for part in value]
        return value.replace("e", "\x1b") if isinstance(value, str) and value not in KEPT else value

    for of in (output(), guessed(), guessed(ANSWER)):
        text = "\n".join(told(hostile(of)))
        assert "\x1b" not in text
        assert "\N{REPLACEMENT CHARACTER}" in text


KEPT = {"supported", "unsupported", "partly", "verified", "answered"}


def test_a_terminal_gets_colours_and_a_pipe_the_same_words() -> None:
    assert any("\x1b[" in line for line in told(output(), terminal=True))
    assert not any("\x1b" in line for line in told(output()))


def test_an_answer_of_a_hundred_sentences_shows_each_quote_once() -> None:
    spans = [(9 * n, 9 * n + 8) for n in range(100)]
    many = output(
        answer="It is so. " * 90,
        citations=[cite(span, TARN, "Tarn is a river in France.", 0.9) for span in spans],
        sentences=[{"start": s, "end": e, "support": 0.9, "verdict": "supported"} for s, e in spans],
        conflicts=[],
    )
    lines = told(many)
    assert len(lines) == 1 + 100 + 1 + 1
    assert sum(line.startswith("  [1] ") for line in lines) == 1
    assert sum(line.endswith("(see [1])") for line in lines) == 99


def test_a_quote_of_a_long_passage_is_shown_with_a_few_words_before_and_after() -> None:
    text = "word " * 5000 + "It is so. " + "more " * 5000
    far = cite((0, 5), Passage(id="f", title="Far", text=text), "It is so.", 1.0)
    passage = Passage(id="f", title="Far", text=text)
    lines = told(output(citations=[far], sentences=[], conflicts=[], evidence=[passage]))
    assert lines[1].startswith("  [1] Far (f): ... word word")
    assert '"It is so." more' in lines[1]
    assert lines[1].endswith("more ...")
    assert len(lines[1]) < 200
    edited = told(output(citations=[far], sentences=[], conflicts=[], evidence=[]))
    assert edited[1] == '  [1] Far (f): "It is so."'


@pytest.mark.parametrize(
    ("stopped", "answer", "code"),
    [
        ("answered", "x", 0),
        ("own_knowledge", "x", 0),
        ("budget", "x", 0),
        ("budget", "", 3),
        ("unsupported", "", 4),
        ("unsupported", "x", 4),
    ],
)
def test_a_run_leaves_with_the_code_of_its_end(stopped: str, answer: str, code: int) -> None:
    assert exit_code({"stopped": stopped, "answer": answer}) == code
