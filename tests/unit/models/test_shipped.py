"""The shipped heads over the real base: they load, agree with their cards, and do what they are for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langgraph_evidence.models import default_encoder, default_query_scorer
from langgraph_evidence.models.base.adapters import shipped
from langgraph_evidence.models.base.weights import BASE_SHA256, sha256_of
from langgraph_evidence.models.progress_reward.model import ProgressReward
from langgraph_evidence.models.sentence_ranker.model import SentenceRanker

HEADS = ("query_scorer", "sentence_ranker", "progress_reward")
PASSAGES = [
    "Truck Turner: Truck Turner is a 1974 American film directed by Jonathan Kaplan.",
    "Jonathan Kaplan: Jonathan Kaplan (born November 25, 1947) is an American film producer and director.",
    "The Prairie King: The Prairie King is a 1927 American silent film directed by B. Reeves Eason.",
    "Henry Baring: Sir Henry Baring was a British politician.",
]


@pytest.mark.parametrize("head", HEADS)
def test_the_card_is_of_the_file(head: Any) -> None:
    card = json.loads(shipped(head).with_suffix(".json").read_text())
    assert card["sha256"] == sha256_of(shipped(head))
    assert card["base"] == BASE_SHA256
    assert card["head"] == head
    assert card["details"]["figures"]["score"] > 0
    assert all(len(value) == 64 for value in card["details"]["data"].values())


def test_all_heads_together_stay_small() -> None:
    assert sum(path.stat().st_size for path in shipped("x").parent.iterdir()) < 60_000_000


def test_the_query_that_names_its_passage_beats_the_one_that_names_nothing() -> None:
    scorer = default_query_scorer()
    assert scorer.trained
    clear, vague = scorer.score(["Who is the director of Truck Turner?", "Who was it?"], PASSAGES)
    assert clear[0] > 0.5
    assert sum(clear) < sum(vague)


def test_the_ranker_puts_the_sentence_that_answers_first() -> None:
    ranker = SentenceRanker.load()
    assert ranker.rank("When was Jonathan Kaplan, the director, born?", PASSAGES)[0] == 1


def test_the_reward_prefers_what_is_new_and_to_the_point() -> None:
    reward = ProgressReward.load()
    question = "Who directed Truck Turner and when was the director born?"
    first = "Truck Turner was directed by Jonathan Kaplan."
    good, again, elsewhere = reward.reward(
        question,
        [
            [first, "Jonathan Kaplan was born on November 25, 1947."],
            [first, first],
            [first, "The river flows through the town to the sea."],
        ],
    )
    assert good > again
    assert good > elsewhere


def test_the_heads_share_the_one_resident_base() -> None:
    assert default_encoder() is default_encoder()
    model: Any = SentenceRanker.load()._model
    assert model.encoder is default_encoder()
