"""The wheel: it builds, carries its data, and what it holds can be imported without any extra."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = [
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "langchain_community",
    "fastmcp",
    "langgraph.checkpoint.sqlite",
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    code = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_it_carries_data_types_and_licences_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "langgraph_evidence/data/sample_passages.jsonl.gz" in names
    assert "langgraph_evidence/py.typed" in names
    for licence in ("LICENSE", "NOTICE", "LICENSES/Apache-2.0.txt"):
        assert any(name.endswith(f"licenses/{licence}") for name in names), licence
    tops = {name.split("/")[0] for name in names}
    assert tops == {"langgraph_evidence", f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}


def test_it_stays_small(wheel: Path) -> None:
    # A package registry refuses what is over 100 MB; a newcomer should wait far less than that takes.
    assert wheel.stat().st_size < 60_000_000


def test_every_module_but_models_and_training_imports_without_extras(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    package = tmp_path / "langgraph_evidence"
    modules = sorted(
        ".".join(path.relative_to(tmp_path).with_suffix("").parts).removesuffix(".__init__")
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in {"models", "training"}
    )
    code = f"""
import importlib, sys
sys.path.insert(0, {str(tmp_path)!r})
for name in {EXTRAS!r}:
    sys.modules[name] = None
for name in {modules!r}:
    importlib.import_module(name)
import langgraph_evidence
print(langgraph_evidence.__file__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(package / "__init__.py")
