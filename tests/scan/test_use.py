"""The scan in an editor and in a project that has findings already: stdin, rules left out in some
files, a baseline of what is known, numbers by rule, output that no cache changes.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.scan import baseline, patched, scan

CLOCK = (
    "import time\nimport torch\n\ntorch.manual_seed(int(time.time()))\n"
    "for loss in losses: loss.backward(), adam.step()\n"
)
LATE = "import torch\nimport helper\nhelper.seed()\ntorch.nn.Linear(1, 1)\nloss.backward()\n"
HELPER = "import torch\ndef seed():\n    torch.manual_seed(0)\n"
AGAIN = "import random\nrandom.seed(None)\nbatch = random.random()\n"


class Done:
    """Exit code and streams of a scan that ran in this process, with this text on stdin."""

    def __init__(self, *words: str, stdin: bytes = b"") -> None:
        out, err = io.StringIO(), io.StringIO()
        before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                self.code = main(["scan", *words])
        finally:
            sys.stdin = before
        self.out, self.err = out.getvalue(), err.getvalue()


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two equal findings in two files, in which the test starts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "src" / "train.py").write_text(CLOCK)
    (folder / "other.py").write_text(CLOCK)
    return folder


# -------------------------------------------------------------------------------------------- stdin


def test_the_text_on_stdin_stands_in_place_of_its_file_and_imports_from_there() -> None:
    Path("src/helper.py").write_text(HELPER)
    named = ("-", "--stdin-filename", "src/train.py")
    assert Done(*named, stdin=LATE.encode()).code == 0
    unseeded = Done(*named, stdin=LATE.replace("helper.seed()", "").encode())
    assert unseeded.code == 1 and "src/train.py:4:1: error RC301" in unseeded.out
    assert Path("src/train.py").read_text() == CLOCK
    without_name = Done("-", stdin=LATE.encode())
    assert "-:4:1: error RC301" in without_name.out


def test_what_is_wrong_on_stdin_is_said_as_of_a_file() -> None:
    broken = Done("-", stdin=b"def f(\n")
    assert broken.code == 2 and "-:1: left out: does not parse" in broken.out
    cell = {"cell_type": "code", "source": CLOCK}
    book = json.dumps({"cells": [cell], "nbformat": 4, "metadata": {}}).encode()
    notebook = Done("-", "--stdin-filename", "book.ipynb", stdin=book)
    assert "book.ipynb:cell 1:4:1: error RC402" in notebook.out


def test_a_fix_of_stdin_is_its_new_text_in_its_encoding_and_no_file_changes() -> None:
    text = "# coding: latin-1\r\n# é\r\n" + CLOCK.replace("\n", "\r\n")
    path = Path("src/train.py").absolute()
    given = {path: text.encode("latin-1")}
    result = scan([], given=given)
    assert patched(result, given) == {
        Path("src/train.py"): text.replace("int(time.time())", "0"),
    }
    fixed = Done("--fix", "-", stdin=CLOCK.encode())
    assert fixed.code == 0 and fixed.out == CLOCK.replace("int(time.time())", "0")
    clean = Done("--fix", "-", stdin=fixed.out.encode())
    assert clean.code == 0 and clean.out == fixed.out
    shown = Done("--diff", "-", "--stdin-filename", "src/train.py", stdin=CLOCK.encode())
    assert "+++ b/src/train.py" in shown.out and "+torch.manual_seed(0)" in shown.out
    assert Path("src/train.py").read_text() == CLOCK


@pytest.mark.parametrize(
    "words, said",
    [
        (("-", "other.py"), "cannot stand beside"),
        (("other.py", "--stdin-filename", "x.py"), "for `reprocheck scan -` alone"),
        (("--baseline", "no.json"), "--write-baseline no.json"),
        (("--baseline", "other.py"), "other.py is no baseline"),
        (("--write-baseline", "no/folder.json"), "no/folder.json cannot be written"),
    ],
)
def test_what_does_not_go_together_is_said(words: tuple[str, ...], said: str) -> None:
    done = Done(*words, stdin=CLOCK.encode())
    assert done.code == 2 and said in " ".join(done.err.split())


# -------------------------------------------------------------------------------------- known files


def test_rules_are_left_out_in_some_files_wherever_the_scan_starts(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = '[tool.reprocheck.scan.per-file-ignores]\n"src/*" = ["RC4"]\n"o*.py" = ["RC3"]\n'
    Path("pyproject.toml").write_text(table)
    assert "1 finding" in Done().out and "other.py:4:1" in Done().out
    monkeypatch.chdir(project / "src")
    assert Done("train.py").code == 0 and Done("../other.py").code == 1
    for wrong, said in (('["RC99"]', "no such rule"), ('"RC402"', "not a table of lists")):
        (project / "pyproject.toml").write_text(table.replace('["RC4"]', wrong))
        done = Done()
        assert done.code == 2 and said in " ".join(done.err.split())


def test_a_comment_answers_the_findings_of_its_whole_file() -> None:
    Path("other.py").write_text(
        CLOCK + AGAIN + "# reprocheck: ignore-file[RC402] a demonstration\n"
    )
    table = json.loads(Done("other.py", "--format", "json").out)
    assert table["findings"] == []
    assert [(row["line"], row["suppressed"]) for row in table["suppressed"]] == [
        (4, "a demonstration"),
        (7, "a demonstration"),
    ]
    Path("other.py").write_text("# reprocheck: ignore-file[RC301]\n" + CLOCK)
    assert "that this comment answers" in Done("other.py").out


def test_only_findings_that_a_baseline_does_not_hold_are_said(project: Path) -> None:
    written = Done("--write-baseline", "known.json")
    assert written.code == 0 and "known.json holds 2 findings as known" in written.err
    same = Done("--baseline", "known.json")
    assert same.code == 0 and "2 more known from the baseline" in same.out
    Path("other.py").write_text("# a line above\n" + CLOCK + AGAIN)
    new = json.loads(Done("--baseline", "known.json", "--format", "json").out)
    assert [(row["path"], row["line"]) for row in new["findings"]] == [("other.py", 8)]
    assert [row["path"] for row in new["known"]] == ["other.py", "src/train.py"]
    Path("pyproject.toml").write_text('[tool.reprocheck.scan]\nbaseline = "known.json"\n')
    assert "1 finding" in Done().out
    assert Done("--write-baseline", "known.json").code == 0 and Done().code == 0
    Path("pyproject.toml").write_text("[tool.reprocheck.scan]\nbaseline = 3\n")
    assert "not the name of a file" in " ".join(Done().err.split())


def test_of_equal_lines_as_many_are_known_as_the_baseline_counts(project: Path) -> None:
    Path("known.json").write_text("")
    baseline.write(Path("known.json"), scan(["other.py"]).findings, [Path("other.py")])
    Path("other.py").write_text(CLOCK.replace("for", CLOCK.splitlines()[3] + "\nfor"))
    result = baseline.compared(scan(["other.py"]), Path("known.json").absolute())
    assert [one.line for one in result.findings] == [5] and [one.line for one in result.known] == [
        4
    ]


def test_what_a_baseline_holds_and_is_found_no_more_is_said() -> None:
    Path("other.py").write_text(CLOCK + AGAIN)
    Done("--write-baseline", "known.json")
    written = Path("known.json").read_text()
    assert "not found any more" not in Done("--baseline", "known.json").out
    Path("other.py").write_text(CLOCK.replace("int(time.time())", "0"))
    Path("src/train.py").unlink()
    Path("new.py").write_text(CLOCK)
    said = Done("--baseline", "known.json")
    assert said.code == 1 and "new.py:4" in said.out
    assert (
        "3 findings of the baseline not found any more (RC402 in other.py, RC402 in src/train.py):"
        " `--write-baseline` writes it anew." in " ".join(said.out.split())
    )
    table = Done("--baseline", "known.json", "--format", "json")
    gone = json.loads(table.out)["gone"]
    assert [(one["path"], one["count"]) for one in gone] == [
        ("other.py", 1),
        ("other.py", 1),
        ("src/train.py", 1),
    ]
    assert "not found any more" in table.err
    assert Path("known.json").read_text() == written


def test_nothing_is_called_gone_by_a_scan_that_looks_at_less(tmp_path: Path) -> None:
    Path("other.py").write_text(CLOCK + AGAIN)
    Done("--write-baseline", "known.json")
    Path("other.py").write_text("import torch\n")
    less = (
        ("src",),
        ("--ignore", "RC1"),
        ("--select", "RC402"),
        ("--exclude", "x"),
        ("-", "--stdin-filename", "other.py"),
    )
    for words in less:
        assert "not found any more" not in Done("--baseline", "known.json", *words).out
    Path("other.py").write_text("import torch\nprint 'two'\n")
    left_out = Done("--baseline", "known.json")
    assert "left out" in left_out.out and "not found any more" not in left_out.out
    old = json.loads(Path("known.json").read_text())
    del old["scanned"]
    Path("known.json").write_text(json.dumps(old))
    assert "not found any more" not in Done("--baseline", "known.json").out


# ------------------------------------------------------------------------------------------- output


@pytest.mark.parametrize("name", ["text", "json", "sarif", "github"])
def test_no_cache_changes_the_output(name: str) -> None:
    Path("broken.py").write_text("def f(\n")
    without = Done("--format", name, "--no-cache").out
    first, second = (Done("--format", name).out for _ in range(2))
    assert without == first == second and "RC402" in without
