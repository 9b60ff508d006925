"""A patch that is tried: Python is given its text in place of the user's files, which nobody
touches.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CHILD, clean_environment

MODULE = """import inspect
VALUE = "old"
def shown():
    return inspect.getsource(shown)
if __name__ == "__main__":
    print("as main:", VALUE)
"""
SCRIPT = """import inspect, multiprocessing, os, runpy, subprocess, sys
import module, package.inner
VALUE = "old"
def shown():
    return VALUE
class Local:
    pass
def work(queue):
    queue.put((VALUE, module.VALUE, inspect.getsource(shown), __name__, __file__))
def run(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True).stdout
if __name__ == "__main__":
    print(VALUE, module.VALUE, package.inner.VALUE, module.shown(), inspect.getsource(shown))
    print(sys.argv, sys.path, __file__, __spec__, __package__, type(__loader__).__name__, sorted(globals()))
    print(shown.__code__.co_filename, shown.__module__, Local, len(sys.path_hooks), sys.path_importer_cache[__file__])
    for how in ("spawn", "forkserver", "fork"):
        context = multiprocessing.get_context(how)
        queue = context.SimpleQueue()
        process = context.Process(target=work, args=(queue,))
        process.start()
        print(how, queue.get())
        process.join()
    print(runpy.run_path("module.py")["VALUE"], run("-m", "module"), run("-c", "import module; print(module.VALUE, module.__cached__)"))
    sys.exit(3)
"""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a process printed, how it ended, and the events of all that wrote a trace."""

    stdout: str
    stderr: str
    exit_code: int
    events: list[dict[str, Any]]

    @property
    def patched(self) -> set[str]:
        """The files that a process was given anew."""
        return {event["p"] for event in self.events if event["e"] == "patched"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "package").mkdir(parents=True)
    (work / "script.py").write_text(SCRIPT)
    (work / "package" / "__init__.py").touch()
    for name in ("module.py", "package/inner.py"):
        (work / name).write_text(MODULE)
    return work


def run(
    work: Path, *words: str, patched: Mapping[Path, str | bytes] | None = None, **variables: str
) -> Ran:
    """Runs Python in the folder, bytecode kept; with the recorder where `patched` gives files new
    texts.
    """
    environment = clean_environment() | {"PYTHONDONTWRITEBYTECODE": "", **variables}
    trace = work.parent / f"trace-{len(list(work.parent.iterdir()))}"
    if patched is not None:
        trace.mkdir()
        files = {}
        for number, (path, text) in enumerate(patched.items()):
            new = trace / f"new-{number}"
            new.write_bytes(text if isinstance(text, bytes) else text.encode())
            files[str(path)] = str(new)
        settings = {
            "steps": None,
            "level": "loss",
            "workdir": str(work),
            "output": str(trace),
            "mask": {},
            "patched": files,
        }
        (trace / "recorder.json").write_text(json.dumps(settings))
        environment |= {"REPROCHECK_CHILD": str(trace), "PYTHONPATH": str(CHILD)}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    lines = [
        line
        for file in trace.glob("*.jsonl")
        for line in file.read_text().rstrip("\0").splitlines()
    ]
    return Ran(
        stdout=done.stdout,
        stderr=done.stderr,
        exit_code=done.returncode,
        events=[json.loads(line) for line in lines],
    )


def renewed(work: Path, *names: str) -> dict[Path, str]:
    """The new text of these files: another value, and a line more at the top, so that all lines
    have moved.
    """
    return {
        work / name: "# patched\n" + (work / name).read_text().replace('"old"', '"new"')
        for name in names
    }


def facts(work: Path) -> dict[str, tuple[bytes, int, int, int]]:
    """Of each file of the user's: what it holds, when it was changed, its inode and its mode."""
    found = {}
    for path in sorted(work.rglob("*.py")):
        state = path.stat()
        found[path.name] = (path.read_bytes(), state.st_mtime_ns, state.st_ino, state.st_mode)
    return found


@pytest.mark.parametrize("script", ["script.py", "./script.py", "link.py"])
def test_all_who_read_the_files_are_given_the_new_text_and_nothing_else_is_other(
    work: Path, script: str
) -> None:
    (work / "link.py").symlink_to("script.py")
    plain = run(work, script, "an argument")  # leaves bytecode of the old texts
    before = facts(work)
    new = renewed(work, "script.py", "module.py", "package/inner.py")
    found = run(work, script, "an argument", patched=new)
    assert plain.exit_code == found.exit_code == 3, found.stderr
    assert "new" not in plain.stdout and "old" not in found.stdout
    own = str(CHILD)
    expected = plain.stdout.replace("old", "new")
    assert found.stdout.replace(f"'{own}', ", "") == expected, (
        "sys.path apart, in which the recorder's folder stands"
    )
    assert own in found.stdout
    assert {Path(name).name for name in found.patched} == {
        Path(script).name,
        "module.py",
        "inner.py",
    }
    assert facts(work) == before
    assert run(work, script, "an argument").stdout == plain.stdout, (
        "no bytecode of the new texts is left"
    )


def test_without_bytecode_none_is_written(work: Path) -> None:
    found = run(
        work,
        "-c",
        "import module, package.inner; print(module.VALUE)",
        patched=renewed(work, "module.py"),
    )
    assert found.stdout == "new\n"
    assert [
        path.name.partition(".")[0] for path in work.rglob("*.pyc") if path.parent.parent == work
    ] == []
    assert [
        path.name.partition(".")[0] for path in work.glob("package/__pycache__/inner.*.pyc")
    ] == ["inner"]


def test_a_new_text_of_the_same_length_is_not_taken_for_the_old_one(work: Path) -> None:
    assert run(work, "-c", "import module; print(module.VALUE)").stdout == "old\n"
    same = {work / "module.py": (work / "module.py").read_text().replace('"old"', '"new"')}
    assert run(work, "-c", "import module; print(module.VALUE)", patched=same).stdout == "new\n"
    assert run(work, "-c", "import module; print(module.VALUE)").stdout == "old\n"


@pytest.mark.parametrize(
    "words",
    [
        ("-m", "module"),
        ("-m", "pdb", "-c", "continue", "module.py"),
        ("-m", "cProfile", "module.py"),
    ],
)
def test_commands_that_run_a_file(work: Path, words: tuple[str, ...]) -> None:
    found = run(work, *words, patched=renewed(work, "module.py"))
    assert "as main: new" in found.stdout and found.patched


def test_a_folder_with_a_main_module(work: Path) -> None:
    (work / "package" / "__main__.py").write_text("VALUE = 'old'\nprint(VALUE, __file__)")
    new = {work / "package" / "__main__.py": "VALUE = 'new'\nprint(VALUE, __file__)"}
    plain, found = run(work, "package"), run(work, "package", patched=new)
    assert plain.stdout.split(" ")[1] == found.stdout.split(" ")[1]
    assert (plain.stdout.split(" ")[0], found.stdout.split(" ")[0]) == ("old", "new")


def test_the_text_is_taken_as_it_is(work: Path) -> None:
    """Line ends, encoding, no line break at the end; an editor that puts another file in its place
    meanwhile.
    """
    (work / "latin.py").write_bytes(b"print('old')")
    text = "# -*- coding: latin-1 -*-\r\nword = 'd\xe9j\xe0'\r\nimport inspect\r\nprint(ascii(word), inspect.getsource(lambda: word))"
    found = run(work, "latin.py", patched={work / "latin.py": text.encode("latin-1")})
    assert (
        found.stdout == "'d\\xe9j\\xe0' print(ascii(word), inspect.getsource(lambda: word))\n\n"
    ), found.stderr


def test_errors_and_safe_paths_are_those_of_the_script(work: Path) -> None:
    (work / "fails.py").write_text("import sys\nprint(sys.path[0] == sys.path[-1])\n")
    new = {
        work
        / "fails.py": "import os, sys\nprint(os.path.dirname(__file__) in sys.path)\nraise SystemExit('said')\n"
    }
    found = run(work, "fails.py", patched=new)
    assert (found.stdout, found.stderr, found.exit_code) == ("True\n", "said\n", 1)
    assert run(work, "-P", "fails.py", patched=new).stdout == "False\n"
    raised = run(work, "fails.py", patched={work / "fails.py": "raise ValueError('broken')"})
    assert raised.exit_code == 1 and raised.stderr.endswith("ValueError: broken\n")
    assert not any(event["e"] == "problem" for event in (*found.events, *raised.events))


def test_a_program_that_reads_the_file_by_itself_is_given_nothing_and_says_so(work: Path) -> None:
    found = run(work, "-c", "exec(open('module.py').read())", patched=renewed(work, "module.py"))
    assert (found.stdout, found.patched) == ("as main: old\n", set())


def test_a_new_text_that_cannot_be_read_is_a_problem_of_ours(work: Path) -> None:
    new = renewed(work, "module.py")
    trace = work.parent / "trace"
    trace.mkdir()
    settings = {
        "steps": None,
        "level": "loss",
        "workdir": str(work),
        "output": str(trace),
        "mask": {},
    }
    (trace / "recorder.json").write_text(
        json.dumps(settings | {"patched": {str(next(iter(new))): str(work / "nowhere")}})
    )
    environment = clean_environment() | {"REPROCHECK_CHILD": str(trace), "PYTHONPATH": str(CHILD)}
    done = subprocess.run(
        [sys.executable, "-m", "module"], cwd=work, env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("as main: old\n", "")
    assert '"where":"putting the patch in place"' in "".join(
        file.read_text() for file in trace.glob("*.jsonl")
    )
