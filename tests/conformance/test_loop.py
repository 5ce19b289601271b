"""A first run, its local models not loaded yet, blocks no event loop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from cases import Case

SUPPORT = Path(__file__).parents[1] / "support"


def test_nothing_blocks_the_event_loop(case: Case) -> None:
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "unblocked.py"), case.method.name],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SUPPORT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
