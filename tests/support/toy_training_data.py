"""A data folder laid out like the real one, at toy size: what the trainings of the heads run on in seconds."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from langgraph_evidence.training.base import FILES, DataFolder

PEOPLE = ["Red King", "Blue River", "Green Cat", "Dog City", "Lion Film", "Red Lion"]


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
