"""Every notebook runs from its first cell to its last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def test_every_method_has_a_notebook() -> None:
    from langgraph_evidence.methods import method_names

    assert set(method_names()) <= {path.stem for path in NOTEBOOKS}


# nbclient and jupyter_client warn about their own use of event loops and of paths.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)
