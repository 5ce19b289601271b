"""The heads' training at toy size: the real code over files laid out like the real ones, in seconds."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.progress_reward.model import ProgressReward
from langgraph_evidence.models.query_scorer.head import ListwiseQueryScorer
from langgraph_evidence.models.query_scorer.scorer import SimilarityScorer
from langgraph_evidence.models.sentence_ranker.model import SentenceRanker
from langgraph_evidence.training import measures
from langgraph_evidence.training.base.data import DataFolder
from langgraph_evidence.training.base.intervals import with_intervals
from langgraph_evidence.training.progress_reward import train as progress_reward
from langgraph_evidence.training.query_scorer import train as query_scorer
from langgraph_evidence.training.query_scorer.data import Pool, read_pools
from langgraph_evidence.training.sentence_ranker import train as sentence_ranker

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


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    return written(tmp_path / "data")


def written(root: Path, *, shuffled: bool = False) -> DataFolder:
    """A data folder; `shuffled` leaves the labels of the folds that are trained on to chance."""
    rows = [question_row(number, number % 8, shuffled=shuffled and number % 8 < 7) for number in range(48)]
    empty = (*sentence_ranker.MULTIHOP, "multihop/musique_train.jsonl", "multihop/musique_dev.jsonl")
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


def test_labels_run_to_the_first_gold_passage() -> None:
    pool = Pool("x", "q", ("a", "b", "c", "d"), frozenset({0, 3}), ("q", "r"), ((2, 3, 0, 1), (0, 1, 2, 3)))
    assert [pool.gold_rank(0), pool.gold_rank(1)] == [2, 1]
    assert pool.labels(0) == [0.0, 0.0, 1.0, 1.0]
    assert pool.labels(1) == [1.0, 0.0, 0.0, 0.0]


def test_the_loss_is_equation_9() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0, 0.0], [20.0, -20.0, -20.0, -20.0]])
    labels = torch.tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    loss = query_scorer.scorer_loss(logits, labels, torch.tensor([1.0, 1.0]), alpha=0.1)
    # BCE: four times ln 2 and four times about 0, over eight; 1 / sum s is 1/2 and 1, so the mean square is 0.125.
    assert float(loss) == pytest.approx(0.5 * np.log(2) + 0.1 * 0.125, abs=1e-5)


def test_pools_hold_hops_with_their_answers_and_are_the_same_for_a_seed(folder: Any) -> None:
    pools = read_pools(folder, [0], queries=50)
    assert pools == read_pools(folder, [0], queries=50)
    row = question_row(0, 0)
    assert pools[0].queries[0] == row["question"]
    assert f"where was {row['decomposition'][0]['answer']} born" in pools[0].queries
    assert all(sorted(ranking) == [0, 1, 2, 3] for ranking in pools[0].rankings)
    assert not read_pools(folder, [9])


def test_the_query_scorer_learns_at_toy_size(folder: Any, encoder: Any, tmp_path: Path) -> None:
    options = replace(query_scorer.OPTIONS, epochs=4, measure_every=0, batch_tokens=400)
    result = query_scorer.train_query_scorer(encoder, folder, tmp_path / "run", options=options)
    history = result.progress.history
    assert history[-1]["loss"] < history[0]["loss"]
    scorer = ListwiseQueryScorer.load(tmp_path / "run" / "query_scorer.safetensors", encoder=encoder)
    assert scorer.trained
    pools = read_pools(folder, [7])
    figures = query_scorer.measure_pools(scorer, pools)
    assert figures["f1"] > query_scorer.measure_pools(SimilarityScorer(encoder), pools)["f1"]
    assert figures["oracle"] >= figures["chosen"] >= 0
    scores = scorer.score(["Red King", "dog"], ["Red King: a film", "Dog City: the river", "lion"])
    assert [len(row) for row in scores] == [3, 3]
    assert all(0 <= value <= 1 for row in scores for value in row)
    weights = tmp_path / "run" / "query_scorer.safetensors"
    rows: Any = measures.measure_query_scorer(encoder, folder, [7], source=weights)
    assert {name: rows["trained"][name] for name in figures} == pytest.approx(figures)
    assert {"trained, HotpotQA", "similarity, HotpotQA"} < set(rows)
    low, high = rows["trained"]["chosen_interval"]
    assert low <= figures["chosen"] <= high
    assert scorer.score([], ["a"]) == []
    assert scorer.score(["a"], []) == [[]]


def test_the_sentence_ranker_learns_at_toy_size(folder: Any, encoder: Any, tmp_path: Path) -> None:
    options = replace(sentence_ranker.OPTIONS, epochs=6, learning_rate=1e-2, measure_every=0, batch_tokens=400)
    result = sentence_ranker.train_sentence_ranker(encoder, folder, tmp_path / "run", options=options)
    assert result.progress.history[-1]["loss"] < result.progress.history[0]["loss"]
    lists = sentence_ranker.read_lists(folder, [7])
    chance = sentence_ranker.list_rows(lists, lambda _, sentences: [0.0] * len(sentences))
    ranker = SentenceRanker.load(tmp_path / "run" / "sentence_ranker.safetensors", encoder=encoder)
    rows: Any = measures.measure_sentence_ranker(
        encoder, folder, [7], source=tmp_path / "run" / "sentence_ranker.safetensors"
    )
    assert rows["trained"] == sentence_ranker.measure_lists(lists, ranker.score)
    assert rows["trained"]["score"] > np.mean([row["precision"] for row in chance])
    low, high = rows["trained"]["HotpotQA/2Wiki_interval"]
    assert low <= rows["trained"]["HotpotQA/2Wiki"] <= high
    assert sorted(ranker.rank("red", ["a", "b", "c"])) == [0, 1, 2]
    assert len(ranker.rank("red", ["a", "b", "c"], k=2)) == 2
    assert ranker.score("red", []) == []


def test_the_progress_reward_learns_at_toy_size(folder: Any, encoder: Any, tmp_path: Path) -> None:
    options = replace(progress_reward.OPTIONS, epochs=10, learning_rate=1e-2)
    result = progress_reward.train_progress_reward(encoder, folder, tmp_path / "run", options=options)
    assert result.progress.history[-1]["loss"] < result.progress.history[0]["loss"]
    assert result.figures["score"] > 0.6
    reward = ProgressReward.load(tmp_path / "run" / "progress_reward.safetensors", encoder=encoder)
    figures = measures.measure_progress_reward(
        encoder, folder, [7], source=tmp_path / "run" / "progress_reward.safetensors"
    )
    assert set(figures) == {"trained", "length", "similarity"}
    assert figures["trained"]["score"] == pytest.approx(result.figures["score"])
    assert figures["trained"]["ASQA"] == pytest.approx(result.figures["ASQA"])
    assert "score_interval" in figures["length"]
    values = reward.reward("Who wrote it?", [["The cat."], ["The cat.", "The dog."]])
    assert len(values) == 2
    assert all(0 < value < 1 for value in values)


def test_true_labels_teach_the_query_scorer_more_than_shuffled_ones(encoder: Any, tmp_path: Path) -> None:
    options = replace(query_scorer.OPTIONS, epochs=4, measure_every=0, batch_tokens=400)
    found: list[float] = []
    for shuffled in (False, True):
        place = tmp_path / str(shuffled)
        data = written(place / "data", shuffled=shuffled)
        query_scorer.train_query_scorer(encoder, data, place, options=options)
        scorer = ListwiseQueryScorer.load(place / "query_scorer.safetensors", encoder=encoder)
        found.append(query_scorer.measure_pools(scorer, read_pools(data, [7]))["f1"])
    assert found[0] > found[1]


def test_true_labels_teach_the_sentence_ranker_more_than_shuffled_ones(encoder: Any, tmp_path: Path) -> None:
    options = replace(sentence_ranker.OPTIONS, epochs=6, learning_rate=1e-2, measure_every=0, batch_tokens=400)
    losses: list[float] = []
    for shuffled in (False, True):
        place = tmp_path / str(shuffled)
        data = written(place / "data", shuffled=shuffled)
        result = sentence_ranker.train_sentence_ranker(encoder, data, place, options=options)
        losses.append(result.progress.history[-1]["loss"])
    assert losses[0] < losses[1] / 2  # there is nothing to learn of chance


def test_true_preferences_teach_the_progress_reward_more_than_shuffled_ones(
    folder: Any, encoder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(progress_reward.OPTIONS, epochs=10, learning_rate=1e-2)
    true_pairs = progress_reward.make_pairs

    def shuffled_pairs(data: DataFolder, folds: Any, **how: Any) -> Any:
        pairs = true_pairs(data, folds, **how)
        chance = random.Random(0)
        swap = 7 not in set(folds)
        return [
            replace(pair, better=pair.worse, worse=pair.better) if swap and chance.random() < 0.5 else pair
            for pair in pairs
        ]

    found: list[float] = []
    for make in (true_pairs, shuffled_pairs):
        monkeypatch.setattr(progress_reward, "make_pairs", make)
        result = progress_reward.train_progress_reward(encoder, folder, tmp_path / make.__name__, options=options)
        found.append(result.figures["score"])
    assert found[0] > found[1]


def test_preferences_keep_what_was_said_and_what_experts_thought(folder: Any) -> None:
    pairs = progress_reward.make_pairs(folder, [1])
    expert = next(pair for pair in pairs if pair.source == "ExpertQA")
    assert (expert.better, expert.worse, expert.said) == ("A cat.", "A dog.", ())
    repeated = [pair for pair in pairs if pair.source == "ASQA" and pair.said]
    assert all(pair.worse in pair.said for pair in repeated)


def test_average_precision_is_worked_by_hand() -> None:
    lists = [("x", "q", ["a", "b", "c", "d"], [1, 2])]
    figures = sentence_ranker.measure_lists(lists, lambda _, __: [0.9, 0.8, 0.1, 0.2])
    assert figures["score"] == pytest.approx((1 / 2 + 2 / 4) / 2)  # the good ones stand second and fourth
    assert figures["x recall"] == 0.5


def test_the_figures_of_queries_are_worked_by_hand() -> None:
    pools = [
        Pool("x", "q", ("a", "b"), frozenset({1}), ("q", "r"), ((0, 1), (1, 0))),
        Pool("x", "s", ("a", "b"), frozenset({0}), ("s", "t", "u"), ((1, 0), (1, 0), (1, 0))),
    ]
    rows = query_scorer.pool_rows(Likes("r"), pools)
    figures = query_scorer.measure_pools(Likes("r"), pools)
    # The first pool's second query finds its passage first; no query of the second pool does.
    assert (rows[0]["chosen"], rows[0]["question"], rows[0]["oracle"]) == (1.0, 0.5, 1.0)
    assert figures["chosen"] == figures["oracle"] == 0.75
    assert figures["question"] == 0.5
    # "r" finds passage b and no other, as it should; the four others find nothing where something is to be found.
    assert figures["f1"] == pytest.approx(1 / 5)
    with pytest.raises(InvalidInput, match="No question"):
        query_scorer.measure_pools(Likes("r"), [])


class Likes:
    trained = False

    def __init__(self, query: str) -> None:
        self.query = query

    def score(self, queries: Any, passages: Any) -> Any:
        return [[float(query == self.query and passage == "b") for passage in passages] for query in queries]


def test_an_interval_of_a_ratio_resamples_questions_as_a_whole() -> None:
    rows = [{"right": float(number), "pairs": float(number)} for number in range(1, 9)]

    def share(means: Any) -> Any:
        return {"share": means["right"] / means["pairs"], "right": means["right"]}

    figures: Any = with_intervals(rows, share, of=["share", "right"])
    assert figures["share"] == 1
    assert figures["share_interval"] == pytest.approx([1, 1])
    low, high = figures["right_interval"]
    assert 1 < low < figures["right"] == 4.5 < high < 8
    assert "share_interval" not in with_intervals(rows, share, of=["right"])
    assert with_intervals([], share, of=["share"]) == {}
