"""Corpora in other languages than English: the right passage is found, in memory and through an index."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from langgraph_evidence.citations import LexicalVerifier
from langgraph_evidence.errors import InvalidInput
from langgraph_evidence.retrieval import BM25Retriever, Corpus, OkapiRetriever, build_index, open_index, retriever_for
from langgraph_evidence.retrieval import index as index_module
from langgraph_evidence.retrieval.storage import write_manifest
from langgraph_evidence.types import Passage

if TYPE_CHECKING:
    from pathlib import Path

GERMAN = {
    "Rathaus": "Das Rathaus wurde in der Altstadt erbaut und ist der Sitz des Bürgermeisters.",
    "Bürgerhäuser": "Die Häuser der Bürger am Markt haben Giebel aus dem Mittelalter.",
    "Zugspitze": "Der höchste Berg Deutschlands liegt in den Alpen an der Grenze zu Österreich.",
    "Donau": "Der Fluss entspringt im Schwarzwald und mündet ins Schwarze Meer.",
    "Wald": "Im Wald wachsen Bäume, und im Herbst fallen die Blätter.",
    "Straßenbahn": "Die Bahn fährt durch alle Straßen der Innenstadt.",
    "Ärztekammer": "Die Kammer vertritt die Ärzte des Landes.",
    "Vogelzug": "Störche fliegen im Winter nach Afrika und kehren im Frühling zurück.",
    "Bäckerei": "Der Bäcker backt am Morgen das Brot und verkauft Brötchen.",
    "Universität": "An der Hochschule lehren Professorinnen, und Studenten schreiben Prüfungen.",
}
GERMAN_QUESTIONS = {
    "Wer ist der Arzt, der das Land vertritt?": "Ärztekammer",
    "Wie heißt das höchste unter den Bergen?": "Zugspitze",
    "Was steht vor dem Haus eines Bürgers am Markte?": "Bürgerhäuser",
    "Welche STRASSE wird befahren?": "Straßenbahn",
    "Wann kehrte der Storch zurück, der nach Afrika flog?": "Vogelzug",
    "Was ist zum Brote beim Ba\u0308cker im Verkauf?": "Bäckerei",
}
JAPANESE = {
    "東京": "東京は日本の首都であり、人口が最も多い都市である。",
    "京都": "京都は千年以上にわたり天皇の御所があった古い都である。",
    "富士山": "富士山は日本で一番高い山で、標高は三千七百七十六メートルである。",
    "琵琶湖": "琵琶湖は滋賀県にある日本最大の湖である。",
    "夏目漱石": "夏目漱石は小説「吾輩は猫である」を書いた作家である。",
    "桜": "桜は春に咲く花で、日本の各地で花見が行われる。",
    "新幹線": "新幹線は一九六四年に開業した高速鉄道である。",
    "寿司": "寿司は酢飯に魚介類を合わせた料理である。",
    "相撲": "相撲は二人の力士が土俵の上で取り組む競技である。",
    "北海道": "北海道は日本の北にある島で、冬は雪が多い。",
}
JAPANESE_QUESTIONS = {
    "日本の首都はどこですか。": "東京",
    "日本で最も高い山は何ですか？": "富士山",
    "「吾輩は猫である」を書いた作家は誰ですか。": "夏目漱石",
    "高速鉄道が開業した年": "新幹線",
    "力士が取り組むのはどこか": "相撲",
    "ﾐｽﾞｳﾐで最大の湖": "琵琶湖",
}
CASES = [
    (language, texts, question, title)
    for language, texts, questions in (("de", GERMAN, GERMAN_QUESTIONS), ("ja", JAPANESE, JAPANESE_QUESTIONS))
    for question, title in questions.items()
]


def corpus_of(texts: dict[str, str], language: str) -> Corpus:
    return Corpus([Passage(id=title, title=title, text=text) for title, text in texts.items()], language=language)


def first(retriever: Any, question: str) -> str:
    return str(retriever.invoke(question)[0].id)


@pytest.mark.parametrize(("language", "texts", "question", "title"), CASES)
def test_the_right_passage_comes_first(
    language: str, texts: dict[str, str], question: str, title: str, tmp_path: Path
) -> None:
    corpus = corpus_of(texts, language)
    assert first(retriever_for(corpus), question) == title
    assert first(retriever_for(corpus, "okapi"), question) == title
    assert first(BM25Retriever(passages=list(corpus), language=language), question) == title
    assert first(OkapiRetriever(passages=list(corpus), language=language), question) == title
    opened = open_index(build_index(corpus, tmp_path / "index"))
    assert first(opened, question) == title
    assert opened.invoke(question) == retriever_for(corpus).invoke(question)


@pytest.mark.parametrize(("language", "texts"), [("de", GERMAN), ("ja", JAPANESE)])
def test_english_would_have_missed_them(language: str, texts: dict[str, str]) -> None:
    asked = [(question, title) for known, _, question, title in CASES if known == language]
    english = retriever_for(corpus_of(texts, "en"))
    found = [[document.id for document in english.invoke(question, k=1)] == [title] for question, title in asked]
    assert sum(found) <= len(asked) // 2


def test_the_language_stands_in_the_manifest_and_an_older_manifest_is_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build_index(corpus_of(GERMAN, "de"), tmp_path / "de")
    assert json.loads((built / "manifest.json").read_bytes())["language"] == "de"
    opened: Any = open_index(built)
    assert opened.language == "de"
    monkeypatch.setattr(
        index_module,
        "write_manifest",
        lambda folder, facts: write_manifest(folder, {key: value for key, value in facts.items() if key != "language"}),
    )
    older: Any = open_index(build_index(corpus_of(GERMAN, "en"), tmp_path / "older"))
    assert older.language == "en"
    assert first(older, "Der Bäcker backt") == "Bäckerei"


def test_a_loaded_corpus_has_a_language_for_blocks_and_sentences(tmp_path: Path) -> None:
    path = tmp_path / "ja.jsonl"
    path.write_text(json.dumps({"title": "猫", "text": "吾輩は猫である。名前はまだ無い。"}) + "\n", "utf-8")
    sentences = Corpus.load(path, unit="sentence", language="ja")
    assert sentences.language == "ja"
    assert [passage["text"] for passage in sentences] == ["吾輩は猫である。", "名前はまだ無い。"]
    assert [passage["text"] for passage in Corpus.load(path, chunk_words=8, language="ja")] == [
        "吾輩は猫である。",
        "名前はまだ無い。",
    ]
    assert Corpus.load(path).language == "en"


def test_an_unknown_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no language 'deutsch'; there are .*de"):
        corpus_of(GERMAN, "deutsch")
    with pytest.raises(InvalidInput, match="no language"):
        Corpus.load(tmp_path / "missing.jsonl", language="deutsch")


def test_a_japanese_answer_is_cited_by_its_sentence() -> None:
    text = "京都は古い都である。東京は日本の首都である。人口が多い。"
    passages = [Passage(id="t", title="都市", text=text), Passage(id="s", title="寿司", text=JAPANESE["寿司"])]
    (citation,) = LexicalVerifier().check("日本の首都はどこですか。", "東京", passages).citations
    assert citation["quote"] == "東京は日本の首都である。"
    assert text[citation["quote_start"] : citation["quote_end"]] == citation["quote"]
