"""`reprocheck suite bisect`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.suite.bisect.commits import CommitFacts
from reprocheck.suite.bisect.packages import Change
from reprocheck.suite.bisect.result import Bisected, Checked, Guilty, Outcome
from reprocheck.suite.bisect.words import words
from tests.suite.bisect.places import ONE_MORE_BIT, commit, night, repository, suite_of
from tests.suite.here import checks_here

GOOD, BAD = "2026-01-01T02-00-00Z-aaaa", "2026-01-09T02-00-00Z-bbbb"


def test_exit_codes_say_whether_the_change_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = repository(tmp_path / "project")
    suite_of(project, "model")
    (project / ".gitignore").write_text("nightly/\n__pycache__/\n")
    commit(project, "Start", model="SCALE = 1.0\n")
    good = night(project)
    commit(project, "Nothing", notes="")
    (project / "model.py").write_text(f"SCALE = {ONE_MORE_BIT}\n")
    modified = night(project)
    commit(project, "Scale")
    bad = night(project)
    monkeypatch.chdir(project)
    monkeypatch.setenv("COLUMNS", "80")

    ends = ("--good", good, "--bad", bad)
    with checks_here():
        assert main(["suite", "bisect", "toy", *ends, "--format", "json"]) == 0
    shown = capsys.readouterr()
    (guilty,) = json.loads(shown.out)["guilty"]
    assert guilty["commit"]["subject"] == "Scale"
    assert "2 changes between the nights, at most 2 checks" in shown.err

    with checks_here():
        assert main(["suite", "bisect", "toy", "--good", good, "--bad", modified]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("NOT FOUND The bad end is good here")
    assert "Files were modified" in " ".join(shown.out.split())
    assert all(len(row) <= 80 for row in (shown.out + shown.err).splitlines())

    assert main(["suite", "bisect", "toy", "--good", bad, "--bad", bad]) == 2
    assert main(["suite", "bisect", "toy", *ends, "--by", "luck"]) == 2
    assert "Take bitwise or verdict." in capsys.readouterr().err
    assert main(["suite", "bisect", "lm", *ends]) == 2


def bisected(outcome: Outcome, *guilty: Guilty, **more: object) -> Bisected:
    checked = (
        Checked(candidate="abc", answer="skip", reason="SyntaxError\nin line 1"),
        Checked(candidate="def", answer="bad", reason="loss differs at step 3 by 1 ULP"),
    )
    values: dict[str, object] = {"candidates": 3, "most": 3, "made": 1, "elsewhere": {}, **more}
    return Bisected(
        target="toy",
        good=GOOD,
        bad=BAD,
        by="bitwise",
        outcome=outcome,
        guilty=guilty,
        checked=checked,
        **values,  # type: ignore[arg-type]
    )


def test_a_commit_is_named_with_its_files_and_what_was_not_checked() -> None:
    facts = CommitFacts(
        hash="f" * 40,
        author="Ann <ann@example.org>",
        date="2026-01-05T10:00:00+00:00",
        subject="Fuse the kernels",
        files=tuple(f"part_{number}.py" for number in range(12)),
    )
    said = words(bisected("found", Guilty(commit=facts), good_checked=False))
    text = "\n".join(said.lines)
    assert said.head == "FOUND"
    assert said.lines[0] == "toy differs since this commit: loss differs at step 3 by 1 ULP."
    assert f"commit   {'f' * 40}" in said.lines
    assert "file     and 2 more" in said.lines
    assert "Not checked: abc. SyntaxError" in said.lines
    assert "The good end was not checked here" in text
    assert f"3 changes between {GOOD} and {BAD}; 1 check, at most 3 needed." in said.lines


def test_packages_are_named_with_both_versions_and_the_release() -> None:
    moved = Guilty(
        packages=(
            Change(name="torch", before="2.12.0", after="2.12.1", link="https://index/torch/"),
            Change(name="triton", before="", after="3.5"),
            Change(name="fused", before="1.0", after=""),
        )
    )
    said = words(bisected("found", moved, elsewhere={"driver": ("550", ""), "host": ("a", "b")}))
    assert said.lines[0].startswith("toy differs since this change of packages: ")
    assert "package  torch 2.12.0 -> 2.12.1" in said.lines
    assert "         https://index/torch/" in said.lines
    assert "package  triton 3.5 (not there before)" in said.lines
    assert "package  fused 1.0 (not there any more)" in said.lines
    assert said.lines[-1].endswith("driver (550 -> not there), host (a -> b).")


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (
            "several",
            "toy differs since one of these 2 changes; those between could not be checked.",
        ),
        ("good end is bad", "The good end is bad here (loss differs at step 3 by 1 ULP), so"),
        ("bad end is good", "The bad end is good here, so"),
        ("bad end is skipped", "The bad end cannot be checked here: SyntaxError"),
    ],
)
def test_each_outcome_has_a_sentence(outcome: Outcome, sentence: str) -> None:
    guilty = (Guilty(), Guilty()) if outcome == "several" else ()
    assert words(bisected(outcome, *guilty)).lines[0].startswith(sentence)
