"""A data folder with a few rows of every data set that RQ-RAG's records are made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BRIDGE: dict[str, Any] = {
    "id": "h1",
    "question": "What is the nickname of the winner of the 1998 Wimbledon Championships?",
    "answer": "Pistol Pete",
    "answer_aliases": [],
    "type": "bridge",
    "context": [
        [
            "1998 Wimbledon Championships",
            ["The winner of the 1998 Wimbledon Championships was Pete Sampras.", " Rain."],
        ],
        ["Pete Sampras", ["Pete Sampras is a tennis player.", " His nickname is Pistol Pete."]],
        ["Nickname (film)", ["A film of a nickname."]],
        ["Wimbledon Park", ["A park in London."]],
        ["Rain Man", ["A film with a winner."]],
    ],
    "gold_idx": [1, 0],
    "supporting_facts": [["1998 Wimbledon Championships", 0], ["Pete Sampras", 1]],
    "sentence_split": True,
    "fold": 0,
}
AGAIN = BRIDGE | {"id": "h9"}
KEPT_BACK = BRIDGE | {"id": "h8", "question": "Who won the 1998 Wimbledon Championships?", "fold": 8}
COMPARISON: dict[str, Any] = {
    "id": "h2",
    "question": "Which opera has more acts, Parsifal or Manon?",
    "answer": "Manon",
    "type": "comparison",
    "context": [
        ["Manon", ["Manon is an opera in five acts."]],
        ["Parsifal", ["Parsifal is an opera in three acts."]],
        ["Opera house", ["A house."]],
    ],
    "gold_idx": [0, 1],
    "fold": 7,
}
TRIPLES: dict[str, Any] = {
    "id": "w1",
    "question": "Where did the director of The Clock (film) die?",
    "answer": "Athens",
    "type": "compositional",
    "context": [
        ["Ann Example", ["Ann Example was an artist.", "She died in Athens."]],
        ["The Clock (film)", ["The Clock is a film whose director was Ann Example."]],
        ["The River", ["The River is a film."]],
    ],
    "gold_idx": [0, 1],
    "evidences": [["The Clock", "director", "Ann Example"], ["Ann Example", "place of death", "Athens"]],
    "decomposition": [{"question": "Who directed it?", "answer": "She did.", "llm_generated": True}],
    "fold": 1,
}
HOPS: dict[str, Any] = {
    "id": "m1",
    "question": "What waterfall is in the country of the Bubye River?",
    "answer": "Victoria Falls",
    "answer_aliases": ["The Falls"],
    "type": "2hop",
    "context": [
        ["Bubye River", "The Bubye River is a river of the country Zimbabwe."],
        ["Zimbabwe", "The waterfall of Zimbabwe is Victoria Falls."],
        ["Niagara", "A waterfall of two countries."],
    ],
    "gold_idx": [0, 1],
    "decomposition": [
        {"question": "Bubye River >> country", "answer": "Zimbabwe", "support_idx": 0},
        {"question": "what is the waterfall in #1 ?", "answer": "Victoria Falls", "support_idx": 1},
    ],
    "fold": 2,
}
OPEN: dict[str, Any] = {
    "id": "m2",
    "question": "Who leads the club of Ciro Park?",
    "answer": "Bob Sample",
    "answer_aliases": [],
    "decomposition": [
        {"question": "Ciro Park >> occupant", "answer": "Benevento", "gold_pid": 0},
        {"question": "#1 >> leader", "answer": "Bob Sample", "gold_pid": 1},
    ],
    "has_full_context": False,
    "fold": 3,
}
WIKI: list[Any] = [
    {"pid": 0, "title": "Ciro Park", "text": "Ciro Park is the park of its occupant Benevento."},
    {"pid": 1, "title": "Benevento", "text": "The leader of Benevento is Bob Sample."},
    {"pid": 2, "title": "Leader", "text": "A leader leads."},
    {"pid": 3, "title": "Park", "text": "A park has grass and no occupant."},
]
AMBIGUOUS: dict[str, Any] = {
    "id": "a1",
    "question": "Who sings Keep Your Head Up?",
    "qa_pairs": [
        {
            "question": "Who sings Keep Your Head Up of 2009?",
            "context": "In 2009 the band sings it.",
            "wikipage": "Band",
        },
        {"question": "Who sings Keep Your Head Up of 2011?", "context": "In 2011 Andy sings it.", "wikipage": "Andy"},
    ],
    "annotations": [{"long_answer": "The band in 2009 and Andy in 2011."}],
    "fold": 4,
}
NQ: dict[str, Any] = {
    "id": "n1",
    "title": "Reading F.C.",
    "question": "who is the first owner of reading football club",
    "context": "The first owner of the Reading football club is Xiu Li Dai.",
    "answers": ["Xiu Li Dai", "Dai"],
    "fold": 5,
}
POPQA: dict[str, Any] = {
    "id": 6,
    "question": "What is Scooter Braun's occupation?",
    "answers": ["manager"],
    "subj": "Scooter Braun",
    "prop": "occupation",
    "paragraphs": [{"title": "Scooter Braun", "text": "Braun, by occupation manager.", "is_supporting": True}],
}
OBQA: dict[str, Any] = {
    "id": "o1",
    "question": "Stars are",
    "choices": {"A": "lights", "B": "gases"},
    "answer": "B",
    "fact": "stars are made of gases",
}
ARC: dict[str, Any] = {"id": "arc-3", "question": "What fell?", "choices": {"A": "a star", "B": "rain"}, "answer": "A"}
STEPS: dict[str, Any] = {
    "orig_id": "h2",
    "steps": ["return acts of  Parsifal", "return acts of Manon", "return more of #1 ,  #2"],
    "fold": 7,
}

FILES: dict[str, list[Any]] = {
    "multihop/hotpotqa_train.jsonl": [BRIDGE],
    "multihop/hotpotqa_dev.jsonl": [
        COMPARISON,
        BRIDGE | {"id": "h9"},
        BRIDGE | {"id": "h8", "question": "x", "fold": 8},
    ],
    "multihop/2wiki_dev.jsonl": [TRIPLES],
    "multihop/musique_dev.jsonl": [HOPS],
    "multihop/musique_dev_open.jsonl": [OPEN],
    "passages/wiki_passages.jsonl": WIKI,
    "attribution/asqa_dev_500.jsonl": [AMBIGUOUS],
    "reading/nq_open_oracle_dev.jsonl": [NQ],
    "singlehop/popqa_1000_with_gold.jsonl": [POPQA],
    "singlehop/openbookqa_train.jsonl": [OBQA],
    "singlehop/arc_challenge_train.jsonl": [ARC],
    "questions/break_qdmr_highlevel_dev.jsonl": [STEPS],
}


def written(folder: Path, **changed: list[Any]) -> Path:
    """Writes the folder; a file is changed by its last part without suffix, `hotpotqa_dev=[...]`."""
    for name, rows in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in changed.get(path.stem, rows)), "utf-8")
    return folder
