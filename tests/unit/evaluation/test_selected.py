"""Every selection is a row of its own, and any trajectory that is right is the upper bound."""

from __future__ import annotations

from typing import Any

from furepa_world import QUESTION, WordRetriever
from rq_rag_world import reply, trained
from trusting import DoubtingVerifier

from langgraph_evidence import RqRagSettings, create_rq_rag
from langgraph_evidence.evaluation.outcome import Outcome
from langgraph_evidence.evaluation.question import Question
from langgraph_evidence.evaluation.report import report_row
from langgraph_evidence.evaluation.runner import outcome_of
from langgraph_evidence.evaluation.selected import ANY, by_selection

ASKED = Question(
    id="1", question=QUESTION, answers=("Gwalior",), dataset="hotpotqa", gold_passages=("chand", "stadium")
)


def go(written: Any) -> Any:
    """One path is sure and wrong, two are less sure and agree, one is right and least sure."""
    told = {"rewrite": ("Jhansi", -0.5), "decompose": ("Delhi", -0.8), "disambiguate": ("Delhi", -0.9)}
    if written["action"] != "answer":
        return reply({"rewrite": "Fox network", "decompose": "Dhyan Chand"}.get(written["action"], "hockey player"))
    answer, sure = told[written["steps"][0]["action"]] if written["steps"] else ("Gwalior", -3.0)
    return reply(answer, [sure])


def outcome() -> Outcome:
    settings = RqRagSettings(exploration="forced", depth=1)
    graph = create_rq_rag(trained(go), WordRetriever(), settings=settings, verifier=DoubtingVerifier()).compile()
    given: Any = {"question": QUESTION}
    return outcome_of(ASKED, graph.invoke(given), seconds=1.0)


def test_each_selection_has_its_outcome_and_any_trajectory_is_the_upper_bound() -> None:
    declined = outcome()
    assert (declined["answer"], declined["stopped"]) == ("", "unsupported")
    rows = dict(by_selection([ASKED], [declined]))
    said = {name: row[0]["answer"] for name, row in rows.items()}
    assert (said["confidence"], said["ensemble"], said["vote"], said[ANY]) == ("Jhansi", "Delhi", "Delhi", "Gwalior")
    assert [item["id"] for item in rows["ensemble"][0]["evidence"]] == ["chand"]
    assert rows["confidence"][0]["evidence"] == [{"id": "house", "title": "House"}]
    assert all(row[0]["stopped"] == "answered" for row in rows.values())
    scored = {name: report_row(name, [ASKED], row, facts=False).metrics for name, row in rows.items()}
    assert (scored[ANY]["em"].mean, scored["ensemble"]["em"].mean) == (1.0, 0.0)
    assert scored["ensemble"]["passage_recall"].mean == 0.5
    assert not [name for name in scored[ANY] if name.startswith(("fact_", "joint_"))]


def test_a_run_without_an_answer_counts_against_every_selection_and_a_failed_one_stays_failed() -> None:
    good, none, failed = outcome(), outcome(), outcome()
    none["candidates"] = []
    failed["error"] = {"type": "ModelError", "message": "gone"}
    rows = dict(by_selection([ASKED] * 3, [good, none, failed]))
    assert [row["stopped"] for row in rows["vote"]] == ["answered", "no_answer", "unsupported"]
    assert rows["vote"][2] is failed
    assert rows["vote"][1]["answer"] == ""


def test_a_method_without_trajectories_has_no_such_rows() -> None:
    plain = outcome()
    del plain["candidates"]
    assert dict(by_selection([ASKED], [plain])) == {}
