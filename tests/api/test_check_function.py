"""`reprocheck.check` of functions and scripts, in fresh processes, from wherever it is called."""

from __future__ import annotations

import functools
import importlib
import json
import random
import subprocess
import sys
import threading
import types
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import reprocheck
from reprocheck.api import Options
from reprocheck.errors import EntryPointError, SettingsError, UsageError
from reprocheck.settings import OPTIONS
from tests.conftest import clean_environment, reprocheck as command_line


@pytest.fixture
def jobs(here: Path) -> Any:
    """The module `jobs`."""
    return importlib.import_module("jobs")


def losses(check: Any, run: int = 1) -> list[float]:
    return list(check.runs[run - 1].traces[0].losses.values)


class Heard:
    """An observer."""

    def __init__(self) -> None:
        self.said: list[tuple[object, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *facts: self.said.append((name, *facts))


def test_a_search_from_python_confirms_the_cause_and_tells_of_all_its_runs(
    jobs: Any, here: Path
) -> None:
    heard = Heard()
    found = reprocheck.explain(jobs.unseeded, observer=heard)
    assert found.verdict.title == "NOT REPRODUCIBLE (forward)"
    assert found.search is not None and found.search.smallest
    assert found.causes[0].confidence == "confirmed"
    assert repr(found).startswith("<Check of 'unseeded") and len(repr(found)) < 300
    assert "<b>NOT REPRODUCIBLE (forward)</b>" in found._repr_html_()
    assert found.folder is not None and reprocheck.load(found.folder).search == found.search
    recorded = [pair.runs for pair in (*found.record.deeper, *found.record.arms)]
    started = [said for said in heard.said if said[0] == "run_started"]
    assert len(started) == 2 + sum(map(len, recorded)), "nothing else is said"
    assert {said[0] for said in heard.said} <= {
        "run_started",
        "progress",
        "run_ended",
        "message",
        "silent",
    }


def test_where_nothing_differs_there_is_nothing_to_search(jobs: Any, here: Path) -> None:
    found = reprocheck.explain(jobs.train, [4], {"seed": 3})
    assert found.passed and found.search is None and not found.record.arms


def test_a_function_with_its_arguments(
    jobs: Any, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    heard = Heard()
    check = reprocheck.check(
        jobs.train,
        [4],
        {"seed": 3, "scale": 2.0},
        observer=heard,
        steps="all",
        output=here / "kept",
    )
    source = random.Random(3)
    expected = [2.0 * source.random() for _ in range(4)]
    assert check.passed and check.verdict.title == "REPRODUCIBLE"
    assert losses(check) == losses(check, 2) == expected
    assert (
        check.folder is not None
        and check.folder.parent == here / "kept"
        and check.folder.name.startswith("train-")
    )
    assert json.loads((check.folder / "report.json").read_text())["verdict"] == "reproducible"
    assert not (check.folder / "report.html").exists()
    origins = {setting.name: setting.origin for setting in check.record.settings}
    assert (origins["steps"], origins["draw"], origins["runs"]) == (
        "--steps",
        "reprocheck.toml",
        "default",
    )
    assert [said[:2] for said in heard.said if said[0] == "run_started"] == [
        ("run_started", 1),
        ("run_started", 2),
    ]
    assert capfd.readouterr() == ("", "")
    assert reprocheck.load(check.folder) == check
    assert (here / "jobs.py").exists() and not (here / "reports").exists()
    again = command_line("run", *check.record.entry_point.command[1:], cwd=here)
    assert again.returncode == 0 and list((here / "reports").glob("train-*")), again.stderr


def test_a_difference_is_a_result_and_is_explained(jobs: Any) -> None:
    check = reprocheck.check(jobs.unseeded, explain=True, draw=True)
    assert not check.passed and check.verdict.title == "NOT REPRODUCIBLE (forward)"
    assert check.ladder is not None and check.ladder.first == "loss" and check.causes
    assert check.folder is not None and (check.folder / "report.html").exists()
    assert reprocheck.check(jobs.unseeded, controls=["seed"]).passed


def test_partials_methods_and_threads(jobs: Any) -> None:
    found: dict[str, Any] = {}

    def run(name: str, function: Any, *args: object) -> None:
        found[name] = reprocheck.check(function, args, steps=2)

    thread = threading.Thread(target=run, args=("thread", functools.partial(jobs.train, seed=1), 5))
    thread.start()
    thread.join()
    run("method", jobs.Model(3.0).fit, 5)
    assert [value * 3 for value in losses(found["thread"])] == losses(found["method"])
    assert len(losses(found["method"])) == 2
    assert found["method"].record.entry_point.name == "Model.fit"


def test_a_copy_of_the_working_directory_is_what_is_imported_from(jobs: Any, here: Path) -> None:
    check = reprocheck.check(jobs.prints, workdir="copy")
    assert check.passed and check.folder is not None
    cwd, file, *_ = (check.folder / "run-2" / "stdout.log").read_text().split()
    assert file == f"{cwd}/jobs.py" and Path(cwd).is_relative_to(check.folder)


def test_a_function_that_fails(jobs: Any) -> None:
    check = reprocheck.check(jobs.breaks)
    assert (check.verdict.title, check.verdict.exit_code, check.passed) == (
        "SCRIPT FAILED",
        4,
        False,
    )
    assert "RuntimeError: no data here" in check.runs[0].stderr_tail


def test_a_module_that_only_its_file_leads_to(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "apart").mkdir()
    (here / "apart" / "more.py").write_text("import jobs\ndef go():\n    jobs.train(seed=0)\n")
    spec = spec_from_file_location("not_on.the_path", here / "apart" / "more.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "not_on", types.ModuleType("not_on"))
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    assert reprocheck.check(module.go).passed


def test_a_script(here: Path) -> None:
    (here / "train.py").write_text("import sys, jobs\njobs.train(seed=int(sys.argv[1]))\n")
    check = reprocheck.check(Path("train.py"), [7])
    assert check.passed and check.record.entry_point.command[1:] == ("train.py", "7")
    with pytest.raises(UsageError, match="no keyword arguments"):
        reprocheck.check("train.py", kwargs={"seed": 7})


@pytest.mark.parametrize(
    ("make", "message", "fix"),
    [
        (lambda jobs: ((lambda: jobs.train()), ()), "A lambda", "module"),
        (lambda jobs: (jobs.outer(), ()), "inner is defined inside outer", "module"),
        (lambda jobs: (jobs.later, ()), "later is asynchronous", "runs it"),
        (lambda jobs: (jobs.each, ()), "each is a generator function", "runs it"),
        (
            lambda jobs: (functools.partial(jobs.train, lambda: 0), ()),
            "cannot be given to a fresh process",
            "module",
        ),
        (
            lambda jobs: (jobs.train, [open(jobs.__file__)]),  # noqa: SIM115
            "An argument of train cannot be given",
            "pickle",
        ),
        (lambda jobs: (3, ()), "takes a function or the path of a script, not 3", "check(train)"),
        (lambda jobs: ("none.py", ()), "There is no script none.py", "Check"),
    ],
)
def test_what_cannot_be_checked_is_named_before_anything_starts(
    here: Path, jobs: Any, make: Any, message: str, fix: str
) -> None:
    target, args = make(jobs)
    with pytest.raises(UsageError) as caught:
        reprocheck.check(target, args)
    assert message in caught.value.message and fix in caught.value.fix
    assert caught.value.__notes__ == [f"fix: {caught.value.fix}"]
    assert not (here / "reports").exists()


def test_a_function_of_an_interactive_session(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = types.ModuleType("__main__")
    exec(compile("def train(): pass", "<stdin>", "exec"), session.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", session)
    with pytest.raises(EntryPointError, match="notebook or an interactive session") as caught:
        reprocheck.check(session.train)
    assert "%%writefile" in caught.value.fix


def test_a_function_that_a_fresh_process_does_not_find(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("made_up")
    exec("def train(): pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "made_up", module)
    with pytest.raises(EntryPointError, match="No module named 'made_up'") as caught:
        reprocheck.check(module.train)
    assert "stderr.log" in caught.value.fix


def test_options_are_the_settings_of_a_check(jobs: Any) -> None:
    assert set(Options.__annotations__) == {option.name for option in OPTIONS} - {
        "quiet",
        "verbose",
        "color",
        "lang",
    }
    with pytest.raises(SettingsError, match="runz"):
        reprocheck.check(jobs.train, runz=3)  # type: ignore[call-arg]
    with pytest.raises(SettingsError, match="not allowed"):
        reprocheck.check(jobs.train, runs=1)


SCRIPT = """
import reprocheck, sys
print("imported as", __name__, sys.argv)

def train():
    for step in range(4):
        reprocheck.log_loss(1 / (step + 1))
"""
CALL = "check = reprocheck.check(train)\nprint(check.verdict.title, (check.folder / 'run-2/stdout.log').read_text())\n"


@pytest.mark.parametrize("words", [["package/train.py"], ["-m", "package.train"]])
def test_a_function_of_the_main_script_behind_a_guard(here: Path, words: list[str]) -> None:
    (here / "package").mkdir()
    guarded = "if __name__ == '__main__':\n" + "".join(
        f"    {line}\n" for line in CALL.splitlines()
    )
    (here / "package" / "train.py").write_text(SCRIPT + guarded)
    done = subprocess.run(
        [sys.executable, *words, "x"],
        cwd=here,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0].startswith("imported as __main__")
    assert said[1].startswith("REPRODUCIBLE imported as __mp_main__") and said[1].endswith(
        "train.py', 'x']"
    )


def test_a_main_script_without_a_guard_is_not_started_again_and_again(here: Path) -> None:
    (here / "train.py").write_text(SCRIPT + CALL)
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=here,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    *_, error, fix = done.stderr.strip().splitlines()
    assert "reprocheck.check was called in a process that reprocheck itself had started." in error
    assert 'Put the call below `if __name__ == "__main__":`' in fix
    assert [path.parent.name for path in here.glob("reports/train-*/run-*/stdout.log")] == ["run-1"]
