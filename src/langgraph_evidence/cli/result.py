"""How a run's end is told: the answer sentence by sentence with its proofs, or that it was declined and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from langgraph_evidence.telling import clean, shorten
from langgraph_evidence.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from langgraph_evidence.citations import CitedBy
    from langgraph_evidence.types import Citation, Conflict, Passage, SentenceSupport, Usage, Verdict

LEXICAL_NOTE = "Quotes chosen by shared words; nothing checked them."
OWN_KNOWLEDGE_NOTE = (
    "Answered without evidence: this is what the model says it knows; nothing was found that could prove it."
)

# Letters around a quote that are shown, and those that are looked at for them.
_AROUND, _READ = 60, 400
_LABELS: dict[tuple[CitedBy, Verdict], tuple[str, str]] = {
    ("verified", "supported"): ("supported", "green"),
    ("verified", "partly"): ("partly supported", "yellow"),
    ("verified", "unsupported"): ("not supported", "red"),
    ("lexical", "supported"): ("its facts are quoted, words", ""),
    ("lexical", "partly"): ("some of it is quoted, words", ""),
    ("lexical", "unsupported"): ("not quoted, words", ""),
}


def result_lines(output: Mapping[str, Any]) -> Iterator[Text]:
    """The lines that tell a run's output: what it answered or why it declined to, the proofs, what it cost.

    Args:
        output: Of any method; of one that an earlier version stored, what it has.
    """
    guess, passages = output.get("guess"), {passage["id"]: passage for passage in output.get("evidence") or []}
    if guess is None:
        yield from _answer(output)
        if not _without_evidence(output):  # of what was not checked nothing was measured
            yield from _proofs(output, output["answer"], passages, by=output.get("cited_by", "lexical"))
    else:
        yield from _declined(output)
        yield from _proofs(guess, guess["answer"], passages, by=output["cited_by"])
    yield Text(usage_line(output["usage"]), style="dim")


def _answer(output: Mapping[str, Any]) -> Iterator[Text]:
    answer, stopped, by = clean(output["answer"]), output["stopped"], output.get("cited_by")
    verified = answer and by == "verified" and output.get("evidence")
    how = f"{stopped}, support {output['support']:.2f}" if verified else stopped
    yield Text.assemble(("Answer: ", "bold"), (answer or "(no answer)", "bold green"), f" ({how})")
    if _without_evidence(output):
        yield Text(OWN_KNOWLEDGE_NOTE, style="yellow")
    elif answer and by == "lexical":
        yield Text(LEXICAL_NOTE, style="yellow")


def _without_evidence(output: Mapping[str, Any]) -> bool:
    """Whether it is an answer of the model's own, be it one of a run that was cut."""
    # An earlier version stored no `cited_by`, and perhaps no evidence.
    return bool(output["answer"] and "cited_by" in output and not output["evidence"] and not output["citations"])


def _declined(output: Mapping[str, Any]) -> Iterator[Text]:
    """A guess is called one whether it was asked for (then it is the output's answer) or not."""
    guess, asked_for = output["guess"], bool(output["answer"])
    if not asked_for:
        yield Text.assemble(("Declined: ", "bold red"), f"no answer is given ({output['stopped']}).")
    label = "Guess, as asked for: " if asked_for else "Guess, not to be trusted: "
    # What was not checked has no support that was measured.
    how = f"{output['stopped']}, support {guess['support']:.2f}" if guess["sentences"] else output["stopped"]
    yield Text.assemble((label, "bold"), (clean(guess["answer"]), "yellow"), f" ({how})")
    yield Text.assemble(("Why: ", "bold"), clean(guess["why"]))


def _proofs(found: Mapping[str, Any], answer: str, passages: Mapping[str, Passage], *, by: CitedBy) -> Iterator[Text]:
    """Each sentence with its mark, under it the quotes that prove it; a quote that was shown is named by its number."""
    citations: Sequence[Citation] = found["citations"]
    numbers = {place: number for number, place in enumerate(dict.fromkeys(map(_place, citations)), start=1)}
    shown: set[int] = set()
    for sentence in found.get("sentences") or _unmarked(citations):
        own = {numbers[_place(c)]: c for c in citations if _span(c) == _span(sentence)}
        if "verdict" in sentence:
            yield _marked(sentence, answer, sorted(own.keys() & shown), by=by)
        for number in sorted(own.keys() - shown):
            yield Text(f"  {citation_line(number, own[number], passages.get(own[number]['passage_id']))}")
        shown |= own.keys()
        for conflict in found.get("conflicts", []):
            if _span(conflict) == _span(sentence):
                yield Text(f"  {conflict_line(conflict, passages.get(conflict['passage_id']))}", style="red")


def _place(citation: Citation) -> tuple[str, int, int]:
    return citation["passage_id"], citation["quote_start"], citation["quote_end"]


def _span(part: Mapping[str, Any]) -> tuple[int, int]:
    return part["start"], part["end"]


def _unmarked(citations: Sequence[Citation]) -> list[Any]:
    """The spans of citations that an earlier version stored without sentences."""
    return [{"start": start, "end": end} for start, end in dict.fromkeys((c["start"], c["end"]) for c in citations)]


def _marked(sentence: SentenceSupport, answer: str, again: Sequence[int], *, by: CitedBy) -> Text:
    label, style = _LABELS[by, sentence["verdict"]]
    said = shorten(answer[sentence["start"] : sentence["end"]])
    see = f" (see {', '.join(f'[{number}]' for number in again)})" if again else ""
    return Text.assemble((f"{label} {sentence['support']:.2f}: ", style), f"{said}{see}")


def citation_line(number: int, citation: Citation, passage: Passage | None = None) -> str:
    """`[1] Title (id): ... before "quote" after ...`.

    Args:
        number: Of the quote.
        citation: Where it stands.
        passage: Its passage, to show it among the words around it; a heading that repeats the title is left out.
    """
    return f"[{number}] {_named(citation)}: {in_place(citation, passage)}"


def conflict_line(conflict: Conflict, passage: Passage | None = None) -> str:
    """`! Title (id) says otherwise (0.95): before "quote" after`."""
    return f"! {_named(conflict)} says otherwise ({conflict['contradiction']:.2f}): {in_place(conflict, passage)}"


def _named(quoted: Citation | Conflict) -> str:
    return f"{clean(quoted['title'])} ({clean(quoted['passage_id'])})"


def in_place(quoted: Citation | Conflict, passage: Passage | None = None) -> str:
    """A quote between quotation marks, among the words that stand around it in its passage."""
    quote = quoted["quote"]
    heading, newline, rest = quote.partition("\n")
    headed = bool(newline) and _echoes(heading, quoted["title"])
    quote = rest if headed else quote
    text = passage["text"] if passage is not None else ""
    start, end = quoted["quote_start"], quoted["quote_end"]
    if text[start:end] != quoted["quote"]:  # an evidence that somebody edited, or of another corpus
        return f'"{clean(quote)}"'
    before, after = clean(text[max(0, start - _READ) : start]), clean(text[end : end + _READ])
    if headed or _echoes(before, quoted["title"]):
        before = ""
    left = " " if before and text[start - 1].isspace() else ""
    right = " " if after and text[end].isspace() else ""
    return f'{_last(before)}{left}"{clean(quote)}"{right}{_first(after)}'


def _echoes(text: str, title: str) -> bool:
    return set(words(text)) <= set(words(title))


def _first(text: str) -> str:
    return text if len(text) <= _AROUND else f"{text[:_AROUND].rpartition(' ')[0] or text[:_AROUND]} ..."


def _last(text: str) -> str:
    return text if len(text) <= _AROUND else f"... {text[-_AROUND:].partition(' ')[2] or text[-_AROUND:]}"


def usage_line(usage: Usage) -> str:
    """Calls, tokens and seconds of a run in a line."""
    cached = f" ({usage['cached_calls']} cached)" if usage["cached_calls"] else ""
    tokens = f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out"
    return f"Usage: {usage['calls']} model calls{cached}, {tokens}, {usage['seconds']:.1f} s"
