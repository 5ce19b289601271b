"""A data folder laid out like the real one, at toy size: what the trainings of the heads run on in seconds."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from langgraph_evidence.retrieval.bm25 import BM25Retriever
from langgraph_evidence.training.base import FILES, DataFolder
from langgraph_evidence.training.offline_planner import Case
from langgraph_evidence.types import Passage

CLOCK_QUESTION = "Where was the director of The Clock born?"
CLOCK_TEXTS = {
    "The Clock": "The Clock is a film. It stars Bob Sample. Ann Example directed it.",
    "Bob Sample": "Bob Sample is an artist who was born in Rome.",
    "Ann Example": "Ann Example is an artist who was born in Paris.",
    "The River": "The River is a film of a tower and its clock, directed by Cleo Figure.",
}

PEOPLE = ["Red King", "Blue River", "Green Cat", "Dog City", "Lion Film", "Red Lion"]


def clock_case() -> Case:
    """A question of two hops over four passages: it needs the first and the third."""
    passages = [
        Passage(id=str(index), title=title, text=text) for index, (title, text) in enumerate(CLOCK_TEXTS.items())
    ]
    retriever = BM25Retriever(passages=passages)
    return Case("x", CLOCK_QUESTION, tuple(CLOCK_TEXTS.values()), frozenset({0, 2}), retriever)


def question_row(number: Any, fold: Any, *, shuffled: bool = False) -> Any:
    chooser = random.Random(number)
    names = chooser.sample(PEOPLE, 4)
    gold = chooser.randrange(4) if shuffled else 0
    facts = ["was born in the city", *["is the dog of a king"] * 3]
    context = [[name, [f"{name} was a film.", f" The {name} {fact}."]] for name, fact in zip(names, facts, strict=True)]
    return {
        "id": f"q{number}",
        "question": f"Who wrote {names[0]}?",
        "context": context,
        "gold_idx": [gold],
        "supporting_facts": [[names[gold], 1]],
        "sentence_split": True,
        "decomposition": [
            {"question": f"{names[0]} >> wrote", "answer": names[1], "support_idx": 0},
            {"question": "where was #1 born", "answer": "city", "support_idx": 1},
        ],
        "evidences": None,
        "fold": fold,
    }


def claim(text: Any, informativeness: Any, correctness: Any) -> Any:
    return {"claim_string": text, "informativeness": informativeness, "correctness": correctness}


def written(root: Path, *, shuffled: bool = False) -> DataFolder:
    """A data folder; `shuffled` leaves the labels of the folds that are trained on to chance."""
    rows = [question_row(number, number % 8, shuffled=shuffled and number % 8 < 7) for number in range(48)]
    empty = tuple(name for names in FILES.values() for name in names)
    files: dict[str, list[Any]] = {name: [] for name in empty}
    files["multihop/hotpotqa_dev.jsonl"] = rows
    files |= {
        "questions/break_qdmr_highlevel_dev.jsonl": [],
        "verify/fm2_dev.jsonl": [],
        "verify/fm2_test.jsonl": [],
        "attribution/wice_claim_dev.jsonl": [],
        "nli/qnli_dev.jsonl": [],
        "attribution/asqa_dev_500.jsonl": [
            {"question": "Who?", "annotations": [{"long_answer": "The cat was red. The dog was blue."}], "fold": f}
            for f in range(8)
        ],
        "attribution/alce_fewshot_demos.jsonl": [],
        "attribution/expertqa.jsonl": [
            {
                "question": "What?",
                "fold": 1,
                "claims": [
                    claim("A cat [1].", "Very relevant", "Definitely correct"),
                    claim("A dog.", "Uninformative", "Unsure"),
                ],
            }
        ],
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(json.dumps(row) for row in content))
    return DataFolder(root)
