"""Makes the slips of `tests/mutations.toml` one by one in a copy of the tree and sees whether the tests notice.

    python tests/support/mutate.py [WORD ...]     those whose file or slip holds a word; without words all of them

Each entry has a `file`, its text `old` (which stands there once), what a slip would write instead (`new`), and the
`tests` that must fail then.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "--durations=0", "--timeout=120"]
# One of the packages that are loaded before pytest is a plugin of it too.
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
SECONDS = 900
_SERVER = multiprocessing.get_context("forkserver")
FAILED = 1  # pytest's status where tests ran and failed; any other is no verdict


class Mutation(NamedTuple):
    """A slip, and the tests that must notice it."""

    room: str
    file: str
    old: str
    new: str
    tests: list[str]

    def told(self) -> str:
        return f"{self.file.removeprefix('src/langgraph_evidence/')}: {self.old!r} -> {self.new!r}"


def read_mutations(path: Path) -> list[Mutation]:
    rooms = tomllib.loads(path.read_text("utf-8"))
    return [Mutation(room, **entry) for room, entries in rooms.items() for entry in entries]


def complaints(mutations: list[Mutation], root: Path) -> list[str]:
    """What keeps the slips from being made: a file, a test or a text that is gone, or a text that stands twice."""
    found = []
    for mutation in mutations:
        path = root / mutation.file
        count = path.read_text("utf-8").count(mutation.old) if path.is_file() else -1
        if count < 0:
            found.append(f"There is no file {mutation.file}.")
        elif count != 1:
            where = "is gone from" if count == 0 else f"stands {count} times in"
            found.append(f"The text {mutation.old!r} {where} {mutation.file}.")
        missing = [test for test in mutation.tests if not _is_there(test, root)]
        found += [f"There is no test {test}, which was to notice a slip in {mutation.file}." for test in missing]
    return found


def _is_there(test: str, root: Path) -> bool:
    path, _, name = test.partition("::")
    folder = (root / path).is_dir() and not name
    return folder or ((root / path).is_file() and f"def {name}" in (root / path).read_text("utf-8"))


def copy_tree(target: Path) -> None:
    """The files that git knows or would know, so that no build and no cache goes along."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in names:
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)


def run_tests(tests: list[str], root: Path) -> tuple[int, str]:
    """Pytest's status and words, in a process that has the heavy packages already; one that hangs has failed."""
    log = root / "tests.log"
    process = _SERVER.Process(target=_run_pytest, args=(tests, root, log))
    process.start()
    process.join(SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        return FAILED, "The tests hung."
    return process.exitcode, log.read_text("utf-8", "replace")


def _run_pytest(tests: list[str], root: Path, log: Path) -> None:
    with log.open("w") as told:
        for stream in (1, 2):
            os.dup2(told.fileno(), stream)
    os.chdir(root)
    sys.path[:] = [str(root / "src"), *(path for path in sys.path if Path(path) != Path(__file__).parent)]
    status = pytest.main([*OPTIONS, *tests])
    sys.stdout.flush()
    os._exit(status)  # threads of the tests may still wait


def _write(path: Path, text: str) -> None:
    """Bytecode is known by its source's second, so every version of a file has a second of its own."""
    later = int(path.stat().st_mtime) + 2
    path.write_text(text, "utf-8")
    os.utime(path, (later, later))


def verdict(mutation: Mutation, root: Path) -> tuple[str, str]:
    """Makes one slip in the copy and takes it back: killed and by what, survived, or broken where no test could run."""
    path = root / mutation.file
    whole = path.read_text("utf-8")
    _write(path, whole.replace(mutation.old, mutation.new))
    try:
        status, words = run_tests(mutation.tests, root)
    finally:
        _write(path, whole)
    if status == FAILED:
        noticed = re.search(r"^FAILED \S*?::(\w+)", words, re.MULTILINE)
        return "killed", noticed[1] if noticed else words.strip()[-80:]
    return ("survived", "") if status == 0 else ("broken", words[-2000:])


def main(words: list[str]) -> int:
    everything = read_mutations(ROOT / "tests/mutations.toml")
    chosen = [each for each in everything if not words or any(word in f"{each.room} {each.told()}" for word in words)]
    wrong = complaints(chosen, ROOT)
    if wrong or not chosen:
        print("\n".join([*wrong, "Nothing was tried: mend tests/mutations.toml." if wrong else f"None has {words}."]))
        return 2
    # What LangGraph reads when it is imported, as tests/conftest.py sets it.
    os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
    # What the tests' own libraries leave open in a process that ends at once is not of interest.
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker"
    _SERVER.set_forkserver_preload(["torch", "langchain_openai", "langgraph.graph", "langchain.chat_models"])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy_tree(root)
        status, said = run_tests(sorted({test for mutation in chosen for test in mutation.tests}), root)
        if status:
            print(said[-4000:], "The tests fail without any slip.", sep="\n")
            return 2
        counts = {"killed": 0, "survived": 0, "broken": 0}
        for mutation in chosen:
            started = time.monotonic()
            found, why = verdict(mutation, root)
            counts[found] += 1
            told = f"{found:9}{time.monotonic() - started:4.0f} s  [{mutation.room}] {mutation.told()}"
            print(told, *([f"{'':17}{why}"] if why else []), sep="\n", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return int(counts["survived"] + counts["broken"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
