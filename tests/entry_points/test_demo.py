"""`make demo` keeps its promise: real questions of the sample, answered rightly, with quotes that are in the corpus."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from langgraph_evidence import Corpus
from langgraph_evidence.cli.app import run
from langgraph_evidence.data import sample_passages_path, sample_questions
from langgraph_evidence.text import normalise_answer

MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text("utf-8")
ASKED = re.findall(r'evidence ask "([^"]+)"', MAKEFILE)


def test_the_demo_asks_two_questions_that_no_weight_was_trained_on() -> None:
    folds = {question["question"]: question["fold"] for question in sample_questions()}
    assert [folds[asked] for asked in ASKED] == [7, 7]


@pytest.mark.real_verifier
@pytest.mark.parametrize("asked", ASKED)
def test_the_demo_answers_rightly_and_quotes_the_corpus(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", asked, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    known = next(question for question in sample_questions() if question["question"] == asked)
    assert normalise_answer(output["answer"]) in {
        normalise_answer(answer) for answer in [known["answer"], *known["aliases"]]
    }
    texts = {passage["id"]: passage["text"] for passage in Corpus.load(sample_passages_path())}
    assert output["citations"]
    for citation in output["citations"]:
        assert texts[citation["passage_id"]][citation["quote_start"] : citation["quote_end"]] == citation["quote"]
    assert {citation["passage_id"] for citation in output["citations"]} & set(known["gold_ids"])
