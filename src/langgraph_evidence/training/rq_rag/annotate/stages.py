"""The stages of the annotation: each makes a value of a row and of what was made of it before, or drops it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph_evidence.errors import UnusableReply
from langgraph_evidence.llm import quote
from langgraph_evidence.methods.rq_rag import prompts
from langgraph_evidence.methods.rq_rag.prompted import parse_actions, parse_answer, parse_queries
from langgraph_evidence.methods.rq_rag.protocol import REFINEMENTS, Refinement, neutralised
from langgraph_evidence.training.rq_rag.annotate.stored import Done
from langgraph_evidence.training.rq_rag.searching import NO_SUPPORT, search_queries
from langgraph_evidence.types import passage_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph_evidence.llm import LanguageModel
    from langgraph_evidence.llm.prompt import Prompt
    from langgraph_evidence.training.rq_rag.drafts import Draft
    from langgraph_evidence.training.rq_rag.options import MakeOptions
    from langgraph_evidence.training.rq_rag.records import Step

REFUSED, MALFORMED = "the annotator refused", "the reply was malformed"
NOT_NEEDED, NO_ANSWER = "the annotator sees no need to search", "the annotator found no answer"
TYPES: dict[str, Refinement] = {
    **dict.fromkeys(("HotpotQA", "2Wiki", "MuSiQue"), "decompose"),
    **dict.fromkeys(("NQ", "PopQA", "OpenBookQA", "ARC"), "rewrite"),
    "ASQA": "disambiguate",
}
"""The type of each data set, as the paper sorts its tasks; the annotator is asked for that of any other."""

# The words by which chat models decline; the authors' code has a list of such phrases too.
_REFUSAL = re.compile(
    r"^\W*(?:(?:i['’]?m|i am|we are) (?:really |very |truly )?(?:sorry|unable|not able)|sorry\b|my apologies"
    r"|i apologi[sz]e|as an ai\b|i (?:can['’]?t|cannot|won['’]?t|do not feel|must decline)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Annotator:
    """What annotates, and how.

    Args:
        model: Any chat model.
        options: How the evidence is found and shown.
        kept: The share of original answers that stay (section 4.4).
    """

    model: LanguageModel
    options: MakeOptions
    kept: float

    async def classify(self, row: str, draft: Draft) -> Done:
        """Which refinement the question needs: by its data set, or else as the annotator says."""
        if draft.dataset in TYPES:
            return done(row, TYPES[draft.dataset])
        values = {"queries": [], "evidence": [], "question": _shown(draft.question)}
        return await self._asked(row, prompts.CHOOSE, values, _refinement)

    async def refine(self, row: str, draft: Draft, action: Refinement) -> Done:
        """The refined queries by the type's template (Tables 4 to 6), all at once; decomposing sees the contexts."""
        contexts = [draft.passages[place] for place in sorted(draft.gold)] if action == "decompose" else []
        values: dict[str, Any] = {
            "question": _shown(draft.question),
            "queries": [],
            "evidence": [quote(passage_line(p), limit=self.options.passage_chars) for p in contexts],
            "history": [],
        }
        found = await self._asked(row, prompts.REFINE[action], values, parse_queries)
        return found if found["value"] or found["dropped"] else Done(**(found | {"dropped": NOT_NEEDED}))

    async def search(self, row: str, draft: Draft, action: Refinement, queries: list[str]) -> Done:
        """The steps with their passages; the row is kept only where all supporting passages are among them."""
        steps, whole = search_queries(draft, action, queries, self.options)
        return done(row, steps if whole else None, dropped="" if whole else NO_SUPPORT)

    async def answer(self, row: str, draft: Draft, steps: list[Step]) -> Done:
        """The answer anew from what was found, or for a share of the rows the original one."""
        if share_of(row) < self.kept:
            return done(row, draft.answers[0])
        values = {
            "question": _shown(draft.question),
            "queries": [neutralised(step["query"]) for step in steps],
            "evidence": [quote(passage_line(passage)) for step in steps for passage in step["passages"]],
        }
        found = await self._asked(row, prompts.ANSWER, values, parse_answer)
        return found if found["value"] or found["dropped"] else Done(**(found | {"dropped": NO_ANSWER}))

    async def _asked(self, row: str, prompt: Prompt, values: dict[str, Any], parse: Callable[[str], Any]) -> Done:
        def read(reply: str) -> Any:
            # One who declines is not asked again, as the author of a malformed reply is.
            return None if _REFUSAL.match(reply) else parse(reply)

        known = {name: values[name] for name in prompt.variables}
        try:
            reply = await self.model.ask(prompt, known, parse=read, temperature=0.0)
        except UnusableReply as error:
            return done(row, None, dropped=MALFORMED, prompt=prompt.name, reply=error.reply)
        dropped = REFUSED if reply.value is None else ""
        return done(row, reply.value, dropped=dropped, prompt=prompt.name, reply=reply.text)


def done(row: str, value: Any, *, dropped: str = "", prompt: str = "", reply: str = "") -> Done:
    """What a stage has made of a row."""
    return Done(id=row, dropped=dropped, value=value, prompt=prompt, reply=reply)


def share_of(row: str) -> float:
    """A number in [0, 1) that is the same for a row everywhere: those below the share keep their original answer."""
    return int(hashlib.sha256(row.encode()).hexdigest(), 16) / 2**256


def _refinement(reply: str) -> str:
    found = [action for action in parse_actions(reply) if action in REFINEMENTS]
    if not found:
        raise UnusableReply(f"Begin with one of these words: {', '.join(REFINEMENTS)}.", reply=reply)
    return found[0]


def _shown(question: str) -> str:
    return neutralised(question, limit=20_000)
