"""Where the options of reprocheck end and the user's own command begins, and that the latter
arrives untouched.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.cli.parameters import entry_start
from reprocheck.cli.run import entry_words
from reprocheck.errors import EntryPointError
from tests.conftest import check, reprocheck_here

OURS = {
    "--runs": True,
    "--steps": True,
    "--quiet": False,
    "--no-quiet": False,
    "-q": False,
    "-v": False,
    "-o": True,
    "--help": False,
    "-h": False,
}


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        ("train.py --steps 3", "train.py --steps 3"),
        ("--runs 3 train.py", "train.py"),
        ("--runs=3 train.py --runs=4", "train.py --runs=4"),
        ("-q -v train.py -q", "train.py -q"),
        ("-qv train.py", "train.py"),
        ("-o out.json train.py -o x", "train.py -o x"),
        ("-oout.json train.py", "train.py"),
        ("-qo out.json train.py", "train.py"),
        ("-o - train.py", "train.py"),
        ("-m package.train --help", "-m package.train --help"),
        ("--runs 3 -m package.train -m other", "-m package.train -m other"),
        ("-mpackage.train x", "-mpackage.train x"),
        ("-- torchrun train.py -- --steps 3", "-- torchrun train.py -- --steps 3"),
        ("--runs 3 -- python -m x", "-- python -m x"),
        ("train.py -- --help", "train.py -- --help"),
        ("-", "-"),
        ("--runs 3", ""),
        ("--unknown train.py", "train.py"),
    ],
)
def test_the_entry_point_begins_at_a_script_a_module_or_two_dashes(words: str, rest: str) -> None:
    split = words.split()
    assert split[entry_start(split, OURS) :] == rest.split()


def test_the_words_become_the_arguments_of_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert entry_words(["train.py", "--", "-m"]) == {"script": "train.py", "args": ("--", "-m")}
    assert entry_words(["-m", "a.b", "-m", "c"]) == {"module": "a.b", "args": ("-m", "c")}
    assert entry_words(["-ma.b", "c"]) == {"module": "a.b", "args": ("c",)}
    assert entry_words(["--", "torchrun", "--", "x"]) == {"command": ("torchrun", "--", "x")}


@pytest.mark.parametrize("words", [[], ["--"], ["-m"], ["-"]])
def test_nothing_to_run_is_answered_with_an_example(words: list[str]) -> None:
    with pytest.raises(EntryPointError) as caught:
        entry_words(words)
    assert caught.value.fix


def test_a_launcher_without_dashes_is_answered_with_the_command_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EntryPointError) as caught:
        entry_words(["torchrun", "--nproc-per-node", "2", "train.py"])
    assert "reprocheck run -- torchrun --nproc-per-node 2 train.py" in caught.value.fix
    (tmp_path / "torchrun").write_text("print()")
    assert entry_words(["torchrun"])["script"] == "torchrun"


PRINTS = "import json, sys\nimport reprocheck\nfor _ in range(3): reprocheck.log_loss(1.0)\nprint(json.dumps(sys.argv[1:]))\n"
HOSTILE = [
    "--steps",
    "3",
    "--",
    "-m",
    "--help",
    "--version",
    "-o",
    "-",
    "",
    "a b",
    "ü",
    "--rtol=nan",
]


@pytest.mark.parametrize("kind", ["script", "module", "command"])
def test_everything_after_the_entry_point_arrives_untouched(kind: str, workdir: Path) -> None:
    (workdir / "train.py").write_text(PRINTS)
    start = {
        "script": ["train.py"],
        "module": ["-m", "train"],
        "command": ["--", "python", "train.py"],
    }[kind]
    outcome = check("--runs", "2", "--steps", "all", *start, *HOSTILE, cwd=workdir)
    assert outcome.exit_code == 0, outcome.stderr
    assert json.loads(outcome.log()) == HOSTILE
    assert [run["number"] for run in outcome.report["runs"]] == [1, 2]


def test_an_unknown_option_before_the_script_is_named_with_the_nearest(workdir: Path) -> None:
    (workdir / "train.py").write_text(PRINTS)
    done = reprocheck_here("run", "--step", "3", "train.py", cwd=workdir)
    assert done.returncode == 2
    assert (
        "--step" in done.stderr
        and "--steps" in done.stderr
        and "after the script" in " ".join(done.stderr.split())
    )
    assert done.stdout == "" and not (workdir / "reports").exists()


def test_an_option_without_its_value(workdir: Path) -> None:
    done = reprocheck_here("run", "--runs", cwd=workdir)
    assert done.returncode == 2 and done.stderr.startswith("error:") and "--runs" in done.stderr


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["ok.py"], "reprocheck run ok.py"),
        (["--runs", "5", "ok.py", "--lr", "0.1"], "reprocheck run --runs 5 ok.py --lr 0.1"),
        (["-m", "package.train"], "reprocheck run -m package.train"),
        (["python", "my train.py"], "reprocheck run -- python 'my train.py'"),
        (["notebook.ipynb"], "reprocheck run notebook.ipynb"),
        (["rnu", "ok.py", "--lr", "1"], "reprocheck run ok.py --lr 1"),
    ],
)
def test_a_script_without_a_command_is_told_the_command(
    typed: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert f"Did you mean `{meant}`?" in error


def test_help_and_the_version_are_asked_for_as_elsewhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["help", "suite", "run"]) == main(["suite", "run", "--help"]) == 0
    first, second = capsys.readouterr().out.split("Usage:")[1:]
    assert first == second
    assert main(["-V"]) == main(["--version"]) == 0
    assert len(set(capsys.readouterr().out.split())) == 2


def test_a_missing_script_is_told_the_one_that_is_written_alike(workdir: Path) -> None:
    (workdir / "train.py").write_text("")
    for typed in ("tarin.py", "train"):
        done = reprocheck_here("run", typed, cwd=workdir)
        assert done.returncode == 2 and "Did you mean train.py?" in done.stderr


def test_an_option_behind_the_script_is_named_where_the_script_does_not_know_it(
    workdir: Path,
) -> None:
    (workdir / "train.py").write_text("import reprocheck\nreprocheck.log_loss(1.0)  # steps\n")
    done = reprocheck_here("run", "train.py", "--runs", "3", "--steps", "2", cwd=workdir)
    assert "--runs stands behind the script" in " ".join(done.stderr.split())
    assert "--steps stands" not in done.stderr


def test_a_word_that_is_no_script_gets_no_such_guess(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runn"]) == 2
    error = capsys.readouterr().err
    assert error.count("Did you mean `reprocheck run`?") == 1
    assert main(["somethingelse"]) == 2
    assert "lists the options" in capsys.readouterr().err
