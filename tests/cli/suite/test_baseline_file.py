"""Baselines in a file of the repository, as a team uses them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.suite.changes import states_of_night
from reprocheck.suite.history import open_suite
from reprocheck.suite.targets import load
from tests.suite.changes.story import CURVE, Story, check, packed
from tests.suite.nights import suite_in

MOVED = packed((*CURVE[:3], 0.25))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    suite_in(tmp_path, "a", "b", baselines='"baselines.json"')
    return tmp_path


def night(folder: Path, number: int, **curves: bytes) -> dict[str, str]:
    """A night of both targets with these curves: their states."""
    suite = load(folder)
    with open_suite(suite) as history:
        story = Story(history, suite.targets)
        story.number = number
        plain = [check(name, beside={"numpy": "2.4"}) for name in "ab"]
        checks = [replace(one, curves=curves.get(one.target, one.curves)) for one in plain]
        return {name: state.state for name, state in story.night(*checks).items()}


def test_a_night_reads_what_was_accepted_elsewhere(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night(folder, 0)
    assert main(["suite", "baseline", "accept", "--why", "first"]) == 0
    assert "written to    baselines.json: commit it" in capsys.readouterr().out
    assert night(folder, 1, a=MOVED) == {"a": "drift", "b": "unchanged"}
    accepted = folder / "baselines.json"
    text = accepted.read_text()
    assert main(["suite", "baseline", "accept", "a", "--why", "a new rate"]) == 0
    assert night(folder, 2, a=MOVED) == {"a": "unchanged", "b": "unchanged"}
    accepted.write_text(text)  # the change is taken back
    assert night(folder, 3, a=MOVED) == {"a": "drift", "b": "unchanged"}
    shutil.rmtree(folder / "nightly")  # another machine, with the same checkout
    assert night(folder, 4, a=MOVED) == {"a": "drift", "b": "unchanged"}
    suite = load(folder)
    with open_suite(suite) as history:
        (state, _) = states_of_night(history, history.nights()[-1], suite.targets)
        assert not state.changed  # facts that only the other machine knows are none that changed


@pytest.mark.parametrize("kind", ["folder", "zip", "file", "night"])
def test_what_a_job_has_measured_is_taken(
    folder: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    night(folder, 0)
    main(["suite", "baseline", "accept", "--why", "first"])
    night(folder, 1, a=MOVED)
    there = folder / "downloaded"
    if kind != "night":
        shutil.move(folder / "nightly", there / "nightly")
    source = {
        "folder": str(there),
        "zip": "downloaded.zip",
        "file": str(there / "nightly" / "history.sqlite"),
        "night": Story.name(1),
    }[kind]
    if kind == "zip":
        shutil.make_archive(str(there), "zip", there)
    capsys.readouterr()
    assert main(["suite", "baseline", "from", source, "--why", "a new rate"]) == 0
    said = capsys.readouterr().out
    assert f"ACCEPTED a of night {Story.name(1)}" in said
    assert "ACCEPTED b" not in said
    assert kind == "night" or (folder / "nightly" / ".gitignore").read_text() == "*\n"
    assert f"replaces      night {Story.name(0)}" in said
    assert "environment   the same" in said
    assert "loss        4  0.25     0.375" in said
    found = json.loads((folder / "baselines.json").read_text())["baselines"]
    assert [(one["target"], one["why"]) for one in found] == [("a", "a new rate"), ("b", "first")]
    assert found[0]["replaces"]["why"] == "first"


def test_of_a_night_elsewhere_the_facts_of_the_key_are_compared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night(folder, 0)
    main(["suite", "baseline", "accept", "--why", "first"])
    shutil.rmtree(folder / "nightly")
    night(folder, 1, a=MOVED)
    capsys.readouterr()
    assert main(["suite", "baseline", "diff", "a"]) == 1
    assert "environment   the same" in capsys.readouterr().out


def test_what_is_no_artifact_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    (folder / "damaged.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    for source in ("empty", "damaged.zip", "nowhere"):
        assert main(["suite", "baseline", "from", source, "--why", "it is"]) == 2
        assert "history.sqlite" in " ".join(capsys.readouterr().err.split())


def test_a_target_that_the_suite_does_not_have_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night(folder, 0)
    main(["suite", "baseline", "accept", "--why", "first"])
    suite_in(folder, "a", baselines='"baselines.json"')
    capsys.readouterr()
    assert main(["suite", "run"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "baselines.json has a baseline of target 'b'" in said
    assert "reprocheck suite baseline reset b" in said
    assert main(["suite", "baseline", "reset", "b"]) == 0
    assert "'b'" not in (folder / "baselines.json").read_text()


def test_a_damaged_file_stops_a_night_with_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night(folder, 0)
    main(["suite", "baseline", "accept", "--why", "first"])
    file = folder / "baselines.json"
    file.write_text(file.read_text().replace('"why": "first",', "", 1))
    capsys.readouterr()
    for words in (["run"], ["baseline", "show"], ["report"]):
        assert main(["suite", *words]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "target 'a': Object missing required field `why`" in said
        assert "Traceback" not in said
