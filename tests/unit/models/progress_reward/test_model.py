from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.models.progress_reward.dpo import DpoProgressReward
from langgraph_evidence.models.progress_reward.model import ProgressReward, context_of, step_features


class Fixed:
    """Every token is a character; its log-probability is a constant, or one by character."""

    def __init__(self, value: Any, **special: Any) -> None:
        self.value, self.special, self.asked = value, special, 0

    def log_probabilities(self, text: Any) -> Any:
        self.asked += 1
        return [(place, self.special.get(character, self.value)) for place, character in enumerate(text)][1:]


def test_the_log_ratio_is_the_mean_over_sentences() -> None:
    policy, reference = Fixed(-1.0, x=-0.5), Fixed(-1.0)
    reward = DpoProgressReward(policy, reference, template="$question:")
    # " axx" has two x (+1.0), " b" none: (1.0 + 0.0) / 2; the x of the question counts for nothing.
    assert reward.reward("x", [["axx", "b"], ["axx"]]) == pytest.approx([0.5, 1.0])


def test_an_equal_pair_of_models_rewards_nothing_and_each_text_is_asked_once() -> None:
    model, other = Fixed(-2.0), Fixed(-2.0)
    reward = DpoProgressReward(model, other)
    assert reward.reward("q", [["a b c."], ["a b c."]]) == [0.0, 0.0]
    assert model.asked == other.asked == 1


@pytest.mark.parametrize("answers", [[[]], [["a"], []]])
def test_an_answer_without_sentences_is_refused(answers: Any) -> None:
    with pytest.raises(InvalidInput, match="at least one sentence"):
        DpoProgressReward(Fixed(-1.0), Fixed(-1.0)).reward("q", answers)


def test_a_template_without_the_question_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\$question"):
        DpoProgressReward(Fixed(-1.0), Fixed(-1.0), template="Answer:")


def test_two_local_models_are_loaded_from_their_folders(language_model: Any) -> None:
    assert DpoProgressReward.load(language_model, language_model, device="cpu").reward("Who?", [["Me."]]) == [0.0]


class ByLength:
    def scores(self, steps: Any) -> Any:
        return np.array([len(step[2]) - 3.0 for step in steps], dtype=np.float32)


def test_the_progress_reward_is_the_mean_of_the_sentences_preferences() -> None:
    found = ProgressReward(ByLength()).reward("q", [["abc"], ["abc", "abcd"]])
    assert found == pytest.approx([0.5, (0.5 + 1 / (1 + np.exp(-1))) / 2])
    assert ProgressReward(ByLength()).reward("q", []) == []
    with pytest.raises(InvalidInput, match="at least one sentence"):
        ProgressReward(ByLength()).reward("q", [[]])


def test_features_see_the_question_and_what_was_said(encoder: Any) -> None:
    steps = [("who wrote it", (), "the red king"), ("who wrote it", ("the red king",), "the red king")]
    features = step_features(encoder, steps)
    assert features.shape == (2, 2 * encoder.dimension + 5)
    asked, told, nearest, started = features[:, -5], features[:, -4], features[:, -3], features[:, -2]
    assert asked[0] == pytest.approx(asked[1])
    assert (told[0], nearest[0], started[0]) == (0, 0, 0)
    assert (told[1], nearest[1], started[1]) == (pytest.approx(1, abs=1e-5), pytest.approx(1, abs=1e-5), 1)


def test_the_nearest_sentence_so_far_is_told_and_the_mean_of_all(encoder: Any) -> None:
    said = ("the blue river", "the red king", "a dog")
    (row,) = step_features(encoder, [("who wrote it", said, "the red king")])
    vectors, following = encoder.encode(list(said)), encoder.encode(["the red king"])[0]
    assert row[-3] == pytest.approx(1, abs=1e-5)
    assert row[-4] == pytest.approx(float(vectors.mean(0) @ following), abs=1e-5)
    assert row[-4] < 0.999
    assert row[-1] == pytest.approx(np.log1p(3))


class Recording:
    def __init__(self) -> None:
        self.steps: list[Any] = []

    def scores(self, steps: Any) -> Any:
        self.steps += steps
        return np.zeros(len(steps), dtype=np.float32)


def test_a_sentence_is_scored_after_those_before_it() -> None:
    scorer = Recording()
    ProgressReward(scorer).reward("q", [["a", "b", "c"], ["d"]])
    assert scorer.steps == [("q", (), "a"), ("q", ("a",), "b"), ("q", ("a", "b"), "c"), ("q", (), "d")]


def test_the_context_keeps_the_end_of_a_long_text() -> None:
    assert context_of("q?", []) == "q?"
    assert context_of("q?", ["a" * 900, "end."]).endswith("end.")
    assert len(context_of("q?", ["a" * 900])) < 420
