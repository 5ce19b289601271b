from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from langgraph_evidence.errors import InvalidInput, ModelError, ResourceError
from langgraph_evidence.models.causal.model import CausalModel
from langgraph_evidence.models.progress_reward.dpo import DpoProgressReward
from langgraph_evidence.models.progress_reward.model import ProgressReward, context_of, step_features
from langgraph_evidence.models.remote.likelihood import ServedLikelihood


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


@pytest.fixture(scope="module")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("lm")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: index for index, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    torch.manual_seed(0)
    GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=128, n_embd=16, n_layer=1, n_head=2)).save_pretrained(folder)
    return folder


def test_a_local_model_gives_the_log_probability_of_the_text(language_model: Any) -> None:
    model = CausalModel.load(language_model, device="cpu")
    text = "Who? Me. You."
    found = model.log_probabilities(text)
    assert [start for start, _ in found] == list(range(1, len(text)))
    ids = model._tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        mean_loss = float(model._model(input_ids=ids, labels=ids).loss)
    assert sum(value for _, value in found) == pytest.approx(-mean_loss * (len(text) - 1), rel=1e-4)
    assert DpoProgressReward.load(language_model, language_model, device="cpu").reward("Who?", [["Me."]]) == [0.0]


def test_a_model_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="causal language model"):
        CausalModel.load(tmp_path)


@pytest.fixture
def server() -> Any:
    state: dict[str, Any] = {"reply": None, "status": 200, "seen": []}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state["seen"].append((self.path, payload, self.headers.get("Authorization")))
            body = json.dumps(
                state["reply"](payload["prompt"]) if callable(state["reply"]) else state["reply"]
            ).encode()
            self.send_response(state["status"])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    listener = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{listener.server_port}/v1", state
    listener.shutdown()
    thread.join()
    listener.server_close()


def echo(prompt: Any) -> Any:
    count = len(prompt)
    logprobs = {"text_offset": list(range(count + 1)), "token_logprobs": [None, *[-0.25] * (count - 1), -9.0]}
    return {"choices": [{"text": f"{prompt}!", "logprobs": logprobs}]}


def test_a_server_is_probed_once_and_then_asked(server: Any) -> None:
    url, state = server
    state["reply"] = echo
    model = ServedLikelihood(url, "policy", key="k")
    assert len(state["seen"]) == 1
    assert model.log_probabilities("abc") == [(1, -0.25), (2, -0.25)]  # the generated token is not the prompt's
    path, payload, authorization = state["seen"][-1]
    assert (path, authorization) == ("/v1/completions", "Bearer k")
    assert payload["echo"] is True
    assert payload["model"] == "policy"


@pytest.mark.parametrize(
    "reply",
    [
        {"choices": [{"text": "Paris", "logprobs": None}]},
        {"choices": []},
        {"choices": [{"logprobs": {"text_offset": [0], "token_logprobs": [None]}}]},
        {"choices": [{"logprobs": {"text_offset": [0, 4], "token_logprobs": [None, 3.0]}}]},
        {"choices": [{"logprobs": {"text_offset": [0, 4], "token_logprobs": [None, None]}}]},
        [],
    ],
)
def test_a_server_without_prompt_log_probabilities_is_refused(server: Any, reply: Any) -> None:
    url, state = server
    state["reply"] = reply
    with pytest.raises(ModelError, match="does not return prompt log-probabilities"):
        ServedLikelihood(url, "policy")


def test_a_server_that_fails_says_how(server: Any) -> None:
    url, state = server
    state.update(reply={"error": "no such model"}, status=404)
    with pytest.raises(ModelError, match=r"404.*no such model"):
        ServedLikelihood(url, "policy")
    with pytest.raises(ModelError, match="cannot be reached"):
        ServedLikelihood("http://127.0.0.1:9/v1", "policy", seconds=2)
    with pytest.raises(InvalidInput, match="http"):
        ServedLikelihood("file:///etc", "policy")


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


def test_the_context_keeps_the_end_of_a_long_text() -> None:
    assert context_of("q?", []) == "q?"
    assert context_of("q?", ["a" * 900, "end."]).endswith("end.")
    assert len(context_of("q?", ["a" * 900])) < 420
