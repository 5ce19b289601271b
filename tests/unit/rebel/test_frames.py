"""The explicit stack: what a frame needs, knows and does next."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_evidence.methods.rebel.frames import (
    ROOT,
    advance,
    in_order,
    known_facts,
    learned,
    moved,
    open_children,
    ready,
    root_frame,
    subtree_facts,
)
from langgraph_evidence.methods.rebel.graph import ALGORITHM, MOVES
from langgraph_evidence.methods.rebel.protocol import SubQuestion
from langgraph_evidence.methods.rebel.settings import RebelSettings
from langgraph_evidence.methods.rebel.state import WORK, Stage, StepOutcome
from langgraph_evidence.methods.rebel.wording import fill, leans, references, spell_out

TOOLS = ["a", "b"]


def start(question: Any = "What?", **values: Any) -> Any:
    settings = RebelSettings(**values)
    frames = {ROOT: root_frame(question, settings)}
    frames.update(advance(frames, settings, TOOLS, MOVES))
    return frames, settings


def split(frames: Any, name: Any, settings: Any, *subquestions: Any, dropped: Any = None) -> Any:
    items = [item if isinstance(item, SubQuestion) else SubQuestion(item, ()) for item in subquestions]
    flags = [False] * len(items) if dropped is None else dropped
    children = open_children(frames[name], items, settings, dropped=flags)
    frames[name] = moved(frames[name], StepOutcome("split", {"children": list(children)}), MOVES)
    frames.update(children)
    frames.update(advance(frames, settings, TOOLS, MOVES))


def finished(frame: Any, text: Any, origin: Any, error: Any = "") -> Any:
    return {**frame, "stage": "done", **learned(text, origin, error)}


def answer(frames: Any, name: Any, text: Any, settings: Any, origin: Any = "tool") -> Any:
    frames[name] = finished(frames[name], text, origin)
    frames.update(advance(frames, settings, TOOLS, MOVES))


def stages(frames: Any) -> Any:
    return {frame["id"]: frame["stage"] for frame in in_order(frames)}


def test_a_question_is_split_then_its_parts_then_it_is_recalled() -> None:
    frames, settings = start()
    assert stages(frames) == {"0": "split"}
    split(frames, "0", settings, "Who is A?", "Who is B?")
    assert stages(frames) == {"0": "children", "0-1": "split", "0-2": "split"}
    split(frames, "0-1", settings)
    assert frames["0-1"]["stage"] == "recall"
    answer(frames, "0-1", "Ann", settings)
    answer(frames, "0-2", "Bea", settings)
    assert frames["0"]["stage"] == "recall"
    assert [fact["answer"] for fact in known_facts(frames, frames["0"], settings)] == ["Ann", "Bea"]


def test_one_that_needs_another_waits_for_it_and_is_filled_with_its_answer() -> None:
    frames, settings = start()
    split(frames, "0", settings, "Who wrote Emma?", SubQuestion("Where was #1 born?", (1,)))
    assert stages(frames)["0-2"] == "waiting"
    answer(frames, "0-1", "Jane Austen.", settings)
    assert frames["0-2"]["question"] == "Where was Jane Austen born?"
    assert frames["0-2"]["stage"] == "split"
    assert [fact["id"] for fact in known_facts(frames, frames["0-2"], settings)] == ["0-1"]


def test_a_reference_or_a_pronoun_is_a_need_even_where_no_mark_says_so() -> None:
    frames, settings = start()
    split(frames, "0", settings, "Who wrote Emma?", "Where is Rome?", "Where was #1 born?", "Where was she buried?")
    assert frames["0-3"]["needs"] == ["0-1"]
    assert frames["0-4"]["needs"] == ["0-1", "0-2", "0-3"]


def test_one_that_still_leans_on_others_is_worded_anew_or_spelt_out() -> None:
    frames, settings = start()
    split(frames, "0", settings, "Who wrote Emma?", SubQuestion("Where was #1 born?", (1,)))
    answer(frames, "0-1", "", settings)
    assert frames["0-2"]["stage"] == "rewrite"
    frames, settings = start(rewrite=False)
    split(frames, "0", settings, "Who wrote Emma?", SubQuestion("Where was #1 born?", (1,)))
    answer(frames, "0-1", "", settings)
    assert frames["0-2"]["question"] == 'Where was the answer to "Who wrote Emma?" born?'


def test_a_wording_that_asks_what_it_comes_from_fails() -> None:
    frames, settings = start("Where was the author of Emma born?")
    split(frames, "0", settings, "Who wrote Emma?", SubQuestion("Where was #1 born?", (1,)))
    answer(frames, "0-1", "", settings)
    frames["0-2"] = {**frames["0-2"], "question": "where was the author of Emma born", "stage": "opened"}
    frames.update(advance(frames, settings, TOOLS, MOVES))
    assert (frames["0-2"]["stage"], frames["0-2"]["origin"]) == ("done", "failed")
    assert frames["0"]["stage"] == "recall"


def test_siblings_that_need_nothing_do_not_see_each_other_whatever_is_finished() -> None:
    frames, settings = start()
    split(frames, "0", settings, "Who is A?", "Who is B?")
    answer(frames, "0-1", "Ann", settings)
    assert known_facts(frames, frames["0-2"], settings) == []
    frames, settings = start(memory="all")
    split(frames, "0", settings, "Who is A?", "Who is B?")
    assert stages(frames)["0-2"] == "waiting"
    answer(frames, "0-1", "Ann", settings)
    assert [fact["answer"] for fact in known_facts(frames, frames["0-2"], settings)] == ["Ann"]


@pytest.mark.parametrize(("kept", "facts"), [(True, ["0-1-1", "0-1"]), (False, ["0-1"])])
def test_facts_of_grandchildren_are_kept_as_the_setting_says(kept: Any, facts: Any) -> None:
    frames, settings = start(grandchildren=kept)
    split(frames, "0", settings, "Who is A?")
    split(frames, "0-1", settings, "Who is A's mother?")
    answer(frames, "0-1-1", "Eve", settings)
    answer(frames, "0-1", "Ann", settings)
    assert [fact["id"] for fact in known_facts(frames, frames["0"], settings)] == facts


def test_what_is_needed_is_known_with_all_that_it_needed_itself() -> None:
    frames, settings = start()
    split(frames, "0", settings, "A?", SubQuestion("B?", (1,)), SubQuestion("C?", (2,)))
    answer(frames, "0-1", "a", settings)
    answer(frames, "0-2", "b", settings)
    assert [fact["id"] for fact in known_facts(frames, frames["0-3"], settings)] == ["0-1", "0-2"]


def test_a_failed_fact_is_told_and_never_known() -> None:
    frames, settings = start()
    split(frames, "0", settings, "A?", SubQuestion("B?", (1,)))
    frames["0-1"] = finished(frames["0-1"], "", "tool", "no such thing")
    frames.update(advance(frames, settings, TOOLS, MOVES))
    assert known_facts(frames, frames["0-2"], settings) == []
    (fact,) = subtree_facts(frames, "0-1", grandchildren=True)
    assert (fact["origin"], fact["error"]) == ("failed", "no such thing")


def test_a_question_seen_before_is_answered_from_its_fact() -> None:
    frames, settings = start()
    split(frames, "0", settings, "Who is A?", "who is a")
    assert frames["0-2"]["needs"] == ["0-1"]
    answer(frames, "0-1", "Ann", settings)
    assert (frames["0-2"]["answer"], frames["0-2"]["origin"]) == ("Ann", "memory")
    frames, settings = start(reuse=False)
    split(frames, "0", settings, "Who is A?", "who is a")
    answer(frames, "0-1", "Ann", settings)
    assert frames["0-2"]["stage"] == "split"


def test_the_same_question_elsewhere_in_the_tree_is_worked_on_once() -> None:
    frames, settings = start()
    split(frames, "0", settings, "Who is A?", "Who is B?")
    split(frames, "0-1", settings, "Who is C?")
    split(frames, "0-2", settings, "Who is C?")
    assert stages(frames)["0-1-1"] == "split"
    assert (frames["0-2-1"]["stage"], frames["0-2-1"]["duplicate"]) == ("duplicate", "0-1-1")
    answer(frames, "0-1-1", "Cat", settings)
    assert (frames["0-2-1"]["answer"], frames["0-2-1"]["origin"]) == ("Cat", "memory")


def test_depth_and_the_share_of_nodes_are_checked_before_a_split() -> None:
    frames, settings = start(depth=1)
    split(frames, "0", settings, "Who is A?")
    assert frames["0-1"]["stage"] == "recall"
    frames, settings = start(max_nodes=8)
    split(frames, "0", settings, "A?", "B?")
    assert [frames[name]["allowance"] for name in ("0-1", "0-2")] == [2, 2]
    split(frames, "0-1", settings, "C?", "D?", "E?")
    assert frames["0-1"]["children"] == ["0-1-1", "0-1-2"]
    assert frames["0-1-1"]["stage"] == "recall"


def test_a_dropped_subquestion_takes_the_right_to_split_from_its_siblings() -> None:
    frames, settings = start()
    split(frames, "0", settings, "What?", "Who is A?", dropped=[True, False])
    assert frames["0"]["children"] == ["0-2"]
    assert frames["0-2"]["stage"] == "recall"


def test_an_ordered_run_takes_the_first_frame_alone() -> None:
    frames, settings = start()
    split(frames, "0", settings, "A?", "B?")
    assert [frame["id"] for frame in ready(frames, parallel=True)] == ["0-1", "0-2"]
    assert [frame["id"] for frame in ready(frames, parallel=False)] == ["0-1"]


@pytest.mark.parametrize(
    ("tools", "stage", "tool"), [([], "answer", ""), (["a"], "tool_input", "a"), (TOOLS, "pick_tool", "")]
)
def test_after_a_no_come_the_tools(tools: Any, stage: Any, tool: Any) -> None:
    frames, settings = start()
    frames["0"]["stage"] = "recall"
    frames["0"] = moved(frames["0"], StepOutcome("no"), MOVES)
    frames.update(advance(frames, settings, tools, MOVES))
    assert (frames["0"]["stage"], frames["0"]["tool"]) == (stage, tool)


@pytest.mark.parametrize(("parts", "stage"), [([], "done"), (["A?"], "answer")])
def test_after_a_failed_tool_come_the_facts(parts: Any, stage: Any) -> None:
    frames, settings = start()
    split(frames, "0", settings, *parts)
    frames["0"]["stage"] = "use_tool"
    frames["0"] = moved(frames["0"], StepOutcome("failed", {"error": "broken"}), MOVES)
    frames.update(advance(frames, settings, TOOLS, MOVES))
    assert (frames["0"]["stage"], frames["0"]["origin"], frames["0"]["error"]) == (stage, "failed", "broken")


def test_a_question_that_was_not_worded_spells_out_what_nobody_answered() -> None:
    frames, settings = start()
    split(frames, "0", settings, "Is it #1?", SubQuestion("Where was #1 born?", (1,)))
    answer(frames, "0-1", "", settings)
    assert frames["0-2"]["stage"] == "rewrite"
    frames["0-2"] = moved(frames["0-2"], StepOutcome("not worded"), MOVES)
    frames.update(advance(frames, settings, TOOLS, MOVES))
    assert frames["0-2"]["question"] == 'Where was the answer to "Is it #1?" born?'


def test_the_table_knows_every_stage_and_leads_from_the_question_to_its_end() -> None:
    table: Any = {line.stage: set(line.then.values()) for line in ALGORITHM}
    assert {*table, "done"} == set(get_args(Stage)) >= set(WORK)
    reached, todo = set(), ["waiting"]
    while todo:
        stage = todo.pop()
        reached.add(stage)
        todo += table.get(stage, set()) - reached
    assert reached == set(get_args(Stage))


def test_without_knowledge_and_facts_the_memory_check_is_not_asked() -> None:
    frames, _ = start(knowledge=False, depth=0)
    assert frames["0"]["stage"] == "pick_tool"


def test_wordings() -> None:
    assert references("How far is #2 from #1?") == [1, 2]
    assert leans("Where was she born?")
    assert leans("Where is #1?")
    assert not leans("Where did Marie Curie do her research?")
    assert not leans("Who wrote Emma?")
    assert fill("How far is #1 from #2?", {1: "Rome", 2: "x" * 200}) == "How far is Rome from #2?"
    assert spell_out("Where is #1?", {1: "Who?"}) == 'Where is the answer to "Who?"?'


SPLITS = st.lists(
    st.lists(st.tuples(st.sampled_from(["A?", "B?", "Where was #1?", "Is it?"]), st.sets(st.integers(1, 4))))
)


@given(SPLITS, st.booleans(), st.integers(1, 12), st.sampled_from(["needed", "all"]))
def test_whatever_is_split_every_frame_is_finished_within_its_nodes(
    splits: Any, parallel: Any, nodes: Any, memory: Any
) -> None:
    frames, settings = start(max_nodes=nodes, memory=memory, depth=4)
    for turn in range(500):
        at_work = ready(frames, parallel=parallel)
        if not at_work:
            break
        for frame in at_work:
            if frame["stage"] == "split":
                parts = splits[turn % len(splits)] if splits else []
                split(
                    frames, frame["id"], settings, *[SubQuestion(text, tuple(sorted(needs))) for text, needs in parts]
                )
            elif frame["stage"] == "rewrite":
                frames[frame["id"]] = {**frame, "stage": "opened"}
                frames.update(advance(frames, settings, TOOLS, MOVES))
            elif frames[frame["id"]]["stage"] != "done":
                answer(frames, frame["id"], frame["question"] if turn % 3 else "", settings)
    assert {frame["stage"] for frame in frames.values()} == {"done"}
    assert len(frames) <= nodes


def twice(first: Any, second: Any, **values: Any) -> Any:
    """Who is C? asked below two questions, each split as told; the frames, and those two that ask it."""
    frames, settings = start(**values)
    split(frames, "0", settings, "Who is A?", "Who is B?")
    split(frames, "0-1", settings, *first[0], **first[1])
    split(frames, "0-2", settings, *second[0], **second[1])
    return frames, settings, [frame for frame in in_order(frames) if frame["question"] == "Who is C?"]


ALONE: Any = (["Who is C?"], {})


@pytest.mark.parametrize(
    ("first", "shares"),
    [
        ((["Who is C?", "Who is D?"], {}), [6, 13]),  # 31 below the root, (31 - 2) / 2 each; then 12 / 2 and 13
        ((["What?", "Who is C?"], {"dropped": [True, False]}), [13, 13]),  # and no right to split
    ],
)
def test_the_same_question_with_other_rights_is_worked_on_by_itself(first: Any, shares: Any) -> None:
    frames, _, asked = twice(first, ALONE)
    assert [frame["allowance"] for frame in asked] == shares
    assert (asked[1]["stage"], asked[1]["duplicate"]) == ("split", "")
    assert asked[0]["stage"] == ("recall" if shares[0] == 13 else "split")
    assert frames["0-2"]["children"] == ["0-2-1"]


def test_the_same_question_at_another_depth_is_worked_on_by_itself() -> None:
    # (14 - 3) / 3 on the second level, and (13 - 3) / 3 on the third, are the same share.
    frames, settings, _ = twice((["Who is C?", "Who is D?", "Who is E?"], {}), (["Who is F?"], {}), depth=9)
    split(frames, "0-2-1", settings, "Who is C?", "Who is G?", "Who is H?")
    pair = frames["0-1-1"], frames["0-2-1-1"]
    assert [(frame["allowance"], frame["depth"], frame["stage"]) for frame in pair] == [
        (3, 2, "split"),
        (3, 3, "split"),
    ]


def test_the_same_question_with_other_facts_is_worked_on_by_itself() -> None:
    frames, settings = start()
    split(frames, "0", settings, "Who is A?", "Who is B?", SubQuestion("What of #1?", (1,)))
    answer(frames, "0-1", "Ann", settings)
    split(frames, "0-2", settings, "Who is C?")
    split(frames, "0-3", settings, "Who is C?")
    assert [fact["answer"] for fact in known_facts(frames, frames["0-3-1"], settings)] == ["Ann"]
    assert known_facts(frames, frames["0-2-1"], settings) == []
    assert [frames[name]["stage"] for name in ("0-2-1", "0-3-1")] == ["split", "split"]


def test_one_with_parts_is_a_duplicate_once_it_is_finished_and_not_while_it_is_at_work() -> None:
    frames, settings, _ = twice(ALONE, (["Who is D?"], {}))
    split(frames, "0-1-1", settings, "Who is E?")
    answer(frames, "0-1-1-1", "Eve", settings)
    assert (frames["0-1-1"]["stage"], frames["0-1-1"]["children"]) == ("recall", ["0-1-1-1"])
    later = {**frames, "0-2-1": {**frames["0-2-1"], "question": "Who is C?", "stage": "opened"}}
    assert advance(later, settings, TOOLS, MOVES)["0-2-1"]["stage"] == "split"
    later["0-1-1"] = finished(frames["0-1-1"], "Cat", "tool")
    after = advance(later, settings, TOOLS, MOVES)["0-2-1"]
    # What its parts found is not what it began with.
    assert (after["stage"], after["answer"], after["origin"]) == ("done", "Cat", "memory")


def test_a_question_that_is_still_to_be_worded_is_nobodys_duplicate() -> None:
    frames, settings, _ = twice(ALONE, (["Who is D?"], {}))
    frames["0-1-1"] = {**frames["0-1-1"], "stage": "rewrite"}
    frames["0-2-1"] = {**frames["0-2-1"], "question": "Who is C?", "stage": "opened"}
    assert advance(frames, settings, TOOLS, MOVES)["0-2-1"]["stage"] == "split"


def test_the_duplicate_of_a_failed_question_has_failed_for_its_reason() -> None:
    frames, settings, _ = twice(ALONE, ALONE)
    frames["0-1-1"] = finished(frames["0-1-1"], "", "tool", "no such person")
    frames.update(advance(frames, settings, TOOLS, MOVES))
    copy = frames["0-2-1"]
    assert (copy["stage"], copy["origin"], copy["error"]) == ("done", "failed", "no such person")
