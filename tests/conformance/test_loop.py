"""A first run, its local models not loaded yet, blocks no event loop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from cases import Case

SUPPORT = Path(__file__).parents[1] / "support"


def run(case: Case) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", str(SUPPORT / "unblocked.py"), case.method.name],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SUPPORT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_nothing_blocks_the_event_loop(case: Case) -> None:
    done = run(case)
    if done.returncode < 0:
        # Seen once in some fifty runs (signal 11), not reproduced, and its cause not found; blockbuster, which patches
        # functions of C in place, is a guess. Such a run says nothing of the loop; if it comes twice, the test fails.
        done = run(case)
    assert done.returncode == 0, done.stderr
