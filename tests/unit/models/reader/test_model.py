"""The reader over an untrained adapter and over scripted scores; a full-size model in miniature."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from langgraph_evidence.errors import InvalidInput, ResourceError
from langgraph_evidence.models.base.adapters import Adapter, AdapterSpec, save_adapter
from langgraph_evidence.models.base.bert import Bert, BertConfig, Change
from langgraph_evidence.models.base.encoder import Encoder
from langgraph_evidence.models.base.tokenizer import Batch, TextTokenizer
from langgraph_evidence.models.base.weights import find_base
from langgraph_evidence.models.reader import AdapterSpans, Reader, Reading, new_head
from langgraph_evidence.models.reader.head import KINDS
from langgraph_evidence.models.reader.spans import WindowScores
from langgraph_evidence.models.reader.windows import windows

TOKENIZER = TextTokenizer(find_base().tokenizer)


class Pointing:
    """Points at given words, with a given kind, in one window."""

    def __init__(self, weights: dict[str, float], kind: Sequence[float] = (1, 0, 0, 0)) -> None:
        self.weights, self.kind = weights, np.asarray(kind, dtype=np.float32)

    def scores(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[list[WindowScores]]:
        return [[self.window(*one)] for one in asked]

    def window(self, question: str, passages: Sequence[str]) -> WindowScores:
        window = windows(TOKENIZER, question, passages)[0]
        words = [
            passages[owner][slice(*span)] if owner >= 0 else ""
            for owner, span in zip(window.passages, window.tokens.offsets, strict=True)
        ]
        logits = np.asarray([self.weights.get(word, -20.0) for word in words], dtype=np.float32)
        return WindowScores(logits, logits, self.kind, window.passages, window.tokens.offsets)


def toy_encoder() -> Encoder:
    torch.manual_seed(0)
    return Encoder(Bert(BertConfig(30522, 64, 2, 4, 128, 512)), TOKENIZER, "toy", precision="fp32")


@pytest.fixture(scope="module")
def untrained() -> Reader:
    encoder = toy_encoder()
    adapter = Adapter(encoder, AdapterSpec("reader", "toy", 4, KINDS, 64), new_head(encoder))
    return Reader(AdapterSpans(encoder, adapter))


def test_a_span_is_quoted_from_its_passage() -> None:
    reading = Reader(Pointing({"Paris": 5.0, "Rome": 1.0})).read("Which city?", ["Ann: Rome", "Bob: he saw Paris."])
    assert (reading.kind, reading.text, reading.passage, reading.start, reading.end) == ("span", "Paris", 1, 12, 17)
    assert 0.9 < reading.score <= 1
    assert reading.answerable == 1


def test_insufficient_evidence_is_none_unless_an_answer_must_be_given() -> None:
    reader = Reader(Pointing({"Paris": 5.0}, kind=(0.3, 0, 0, 0.7)))
    asked = ("Which city?", ["Ann: Paris"])
    declined, forced = reader.read(*asked), reader.read(*asked, must_answer=True)
    assert (declined.kind, declined.text, declined.passage) == ("none", "", -1)
    assert declined.score == pytest.approx(0.7)
    assert (forced.kind, forced.text) == ("span", "Paris")
    assert forced.answerable == pytest.approx(0.3)


def test_yes_and_no_answer_only_questions_that_want_them() -> None:
    reader = Reader(Pointing({"Paris": 5.0}, kind=(0.1, 0.2, 0.6, 0.1)))
    assert reader.read("Is Paris a city?", ["Ann: Paris"]).text == "no"
    assert reader.read("Which city?", ["Ann: Paris"]).text == "Paris"
    assert [reading.kind for reading in reader.candidates("Is Paris a city?", ["Ann: Paris"], 5)] == ["no", "yes"]


def test_a_choice_is_answered_with_one_of_the_two() -> None:
    reader = Reader(Pointing({"tall": 9.0, "Bob": 3.0, "Ray": 3.0, "Ann": 1.0, "Lee": 1.0}))
    passages = ["Ann Lee: tall", "Bob Ray: not tall"]
    assert reader.read("Who is taller, Ann Lee or Bob Ray?", passages).text == "Bob Ray"
    assert reader.read("Who is taller, Cid Poe or Dan Orr?", passages).text == "tall"


def test_an_answer_that_repeats_the_question_comes_after_others() -> None:
    reader = Reader(Pointing({"Paris": 5.0, "Rome": 4.5}))
    passages = ["Ann: Paris", "Bob: Rome"]
    assert reader.read("Which city is it?", passages).text == "Paris"
    assert reader.read("Which city is as old as Paris?", passages).text == "Rome"
    assert reader.read("Which city is old, Paris or Rome?", passages).text == "Paris"


def test_a_property_that_both_passages_state_is_a_yes() -> None:
    reader = Reader(Pointing({"Paris": 5.0}, kind=(0.1, 0.1, 0.7, 0.1)))
    passages = ["Ann Lee: an English poet", "Bob Ray: a poet and painter"]
    assert reader.read("Are Ann Lee and Bob Ray both poets?", passages).text == "yes"
    assert reader.read("Are Ann Lee and Bob Ray both painters?", passages).text == "no"


def test_dates_are_compared_before_spans_are_read() -> None:
    reader = Reader(Pointing({"1940": 9.0}))
    passages = ["Ann Lee: born in 1940", "Bob Ray: born in 1950"]
    reading = reader.read("Who is younger, Ann Lee or Bob Ray?", passages)
    assert (reading.kind, reading.text, reading.passage, reading.start, reading.end) == ("span", "Bob Ray", 1, 0, 7)
    assert reading.answerable > 0.9
    assert reader.read("Who is younger, Ann Lee or Bob Ray?", passages[:1]).kind == "none"


def test_a_role_is_read_where_no_phrase_names_it() -> None:
    reader = Reader(Pointing({"Cid": 9.0, "Dan": 9.0}))
    passages = ["Jaws: a film; Cid made it", "Alien: a film; Dan made it", "Cid: (born 1950)", "Dan: (born 1940)"]
    assert reader.read("Which film has the director who is older, Jaws or Alien?", passages).text == "Alien"


def test_candidates_differ_and_fall() -> None:
    found = Reader(Pointing({"Paris": 5.0, "Rome": 4.0})).candidates(
        "Which city?", ["Ann: Paris", "Bob: Rome, Italy"], 2
    )
    assert [reading.text for reading in found] == ["Paris", "Rome"]
    assert found[0].score > found[1].score


def test_candidates_are_told_apart_after_they_are_trimmed() -> None:
    found = Reader(Pointing({"the": 4.0, "Paris": 4.0})).candidates("Which city?", ["Ann: the Paris", "Bob: Paris"], 5)
    assert [reading.text for reading in found].count("Paris") == 1


def test_nothing_to_read_and_wrong_use(untrained: Reader) -> None:
    nothing: list[list[str]] = [[], ["", " "]]
    for passages in nothing:
        reading = untrained.read("Which city?", passages, must_answer=True)
        assert (reading.kind, reading.answerable) == ("none", 0.0)
        assert untrained.candidates("Which city?", passages) == []
    assert untrained.read_batch([]) == []
    with pytest.raises(InvalidInput, match="question is empty"):
        untrained.read("  ", ["Paris"])
    with pytest.raises(InvalidInput, match="sequence of passages"):
        untrained.read("Which city?", "Paris")


def test_over_long_text_is_read_in_windows(untrained: Reader) -> None:
    passages = ["word " * 2_000, "Bob: Paris"]
    reading = untrained.read("which " * 500, passages, must_answer=True)
    assert reading.text == passages[reading.passage][reading.start : reading.end]


def test_the_passages_about_the_question_are_read_in_the_first_window(untrained: Reader) -> None:
    fillers = [f"Filler {n}: " + "words " * 40 for n in range(3)]
    (scored,) = untrained._model.scores([("Who made Jaws?", [*fillers, "Jaws: Cid made it"])])
    assert len(scored) > 1
    assert 3 in scored[0].passages
    assert scored[1].kind[3] > 0.5
    assert all(abs(float(window.kind.sum()) - 1) < 1e-5 for window in scored)


def test_a_batch_is_read_as_one_by_one_and_by_threads(untrained: Reader) -> None:
    asked = [(f"Which city {n}?", [f"Ann: Paris {n}", "Bob: " + "Rome " * n]) for n in range(12)]
    together = untrained.read_batch(asked, must_answer=True)
    fresh = Reader(untrained._model)
    apart: dict[int, Reading] = {}

    def read(number: int) -> None:
        apart[number] = fresh.read(*asked[number], must_answer=True)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [apart[n] for n in range(12)] == together
    assert all(type(reading.score) is float for reading in together)


def test_batches_do_not_change_what_is_read() -> None:
    encoder = toy_encoder()
    adapter = Adapter(encoder, AdapterSpec("reader", "toy", 4, KINDS, 64), new_head(encoder))
    reader = Reader(AdapterSpans(encoder, adapter, cached=0))
    asked = [("Which city?", ["Ann: Paris"]), ("Which river?", ["Bob: " + "Rhine " * 30])]
    for one, reading in zip(asked, reader.read_batch(asked, must_answer=True), strict=True):
        alone = reader.read(*one, must_answer=True)
        assert (alone.text, alone.passage) == (reading.text, reading.passage)
        assert alone.score == pytest.approx(reading.score, rel=1e-3)


def test_a_window_is_passed_through_the_encoder_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = toy_encoder()
    adapter = Adapter(encoder, AdapterSpec("reader", "toy", 0, KINDS, 64, layers=1), new_head(encoder))
    reader, hidden = Reader(AdapterSpans(encoder, adapter)), encoder.hidden
    passed: list[torch.Tensor] = []

    def counted(batch: Batch, change: Change | None = None) -> torch.Tensor:
        passed.append(batch.ids)
        return hidden(batch, change)

    monkeypatch.setattr(encoder, "hidden", counted)
    asked = [(f"Which city {n}?", ["Ann: Paris", "Bob: " + "Rome " * (n % 3) * 9]) for n in range(9)]
    windows_read = sum(len(scored) for scored in reader._model.scores(asked))
    for _ in range(2):
        reader.read_batch([*asked, *asked], must_answer=True)
        reader.candidates(*asked[0])
    lengths = [ids.shape[1] for ids in passed]
    assert sum(len(ids) for ids in passed) == windows_read == len(asked)
    assert lengths == sorted(lengths, reverse=True)


def test_the_bias_of_an_adapter_moves_what_is_enough() -> None:
    encoder = toy_encoder()
    sure = []
    for bias in (-8.0, 0.0, 8.0):
        spec = AdapterSpec("reader", "toy", 4, KINDS, 64, {"none_bias": bias})
        torch.manual_seed(0)
        reader = Reader(AdapterSpans(encoder, Adapter(encoder, spec, new_head(encoder))))
        sure.append(reader.read("Which city?", ["Ann: Paris"], must_answer=True).answerable)
    assert sure[0] > 0.99 > sure[1] > 0.01 > sure[2]
    wrong = AdapterSpec("reader", "toy", 4, KINDS, 64, {"none_bias": "much"})
    with pytest.raises(ResourceError, match="none_bias"):
        AdapterSpans(encoder, Adapter(encoder, wrong, new_head(encoder)))


def test_weights_of_another_kind_are_refused(tmp_path: Path) -> None:
    encoder = toy_encoder()
    wrong = Adapter(encoder, AdapterSpec("reader", "toy", 4, ("yes", "no"), 64))
    save_adapter(wrong, tmp_path / "wrong.safetensors")
    for path in (tmp_path / "missing.safetensors", tmp_path / "wrong.safetensors"):
        with pytest.raises(ResourceError):
            Reader.load(path, encoder=encoder)
    with pytest.raises(ResourceError, match="cannot be read"):
        Reader.load(tmp_path)


def test_a_full_size_question_answering_model(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, max_position_embeddings=64
    )
    torch.manual_seed(0)
    transformers.BertForQuestionAnswering(config).save_pretrained(tmp_path)
    fast = transformers.BertTokenizerFast(tokenizer_file=str(find_base().tokenizer), model_max_length=64)
    fast.save_pretrained(tmp_path)
    reader = Reader.load(tmp_path)
    passages = ["Ann: Paris", "Bob: " + "Rome and the river " * 40]
    for reading in reader.candidates("Which city is it?", passages, 5):
        assert reading.text == passages[reading.passage][reading.start : reading.end]
        assert 0 <= reading.score <= 1
    transformers.BertModel(config).save_pretrained(tmp_path / "plain")
    with pytest.raises(ResourceError, match="ForQuestionAnswering"):
        Reader.load(tmp_path / "plain")
