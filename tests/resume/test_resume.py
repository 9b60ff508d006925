"""`reprocheck resume` on a training without a framework: whole checks, two runs each."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.api import check_resume
from reprocheck.cli import main
from reprocheck.errors import ReportError
from reprocheck.pytest_plugin import Reprocheck
from reprocheck.resume import records
from tests.resume.trainings import SCRIPT, Answer, check

FEW = "--no-draw --go-on 3"


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"reports"}


def test_a_training_that_restores_all_resumes_exactly(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, "--go-on 3 train.py", capsys)
    assert (answer.code, answer.report["headline"]) == (0, "RESUMES EXACTLY")
    place = answer.place
    assert place["checkpoint"]["paths"] == ["ckpt.pkl"]
    assert place["checkpoint"]["line"] == "train.py:25"
    assert (place["offset"], place["compared"], place["read"]) == (3, 3, ["ckpt.pkl"])
    assert place["losses"][0]["iteration"] == {"continued": 4, "resumed": 1}
    assert all(row["continued"] == row["resumed"] for row in place["losses"])
    assert [series["equal"] for series in place["series"]] == [True]
    assert _files(inside) == {"train.py"}
    assert not list(inside.glob("reports/latest/places"))
    first = {name: _read(inside, name) for name in ("report.html", "report.md", "report.json")}
    assert all(b"script:val" in first[name] for name in ("report.html", "report.md"))
    assert main(["report", "reports/latest"]) == 0
    assert capsys.readouterr().out.startswith("RESUMES EXACTLY")
    assert first == {name: _read(inside, name) for name in first}
    assert main(["report", "reports/latest", "-o", "all.zip"]) == 0
    assert main(["report", "all.zip"]) == 0
    assert (inside / "all" / "report.md").read_bytes() == first["report.md"]
    assert main(["bundle", "reports/latest", "-o", "attachment.zip"]) == 0
    assert "BUNDLE  attachment.zip" in capsys.readouterr().out


def _read(folder: Path, name: str) -> bytes:
    return (folder / "reports" / "latest" / name).read_bytes()


def test_a_training_that_forgets_its_momentum_does_not(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, f"{FEW} train.py forgets", capsys)
    assert (answer.code, answer.report["headline"]) == (1, "DOES NOT RESUME EXACTLY")
    assert answer.place["bitwise"]["first"] == {"continued": 5, "resumed": 2}
    (series,) = answer.place["series"]
    assert (series["name"], series["equal"]) == ("val_loss", False)
    assert [value["iteration"]["continued"] for value in series["values"]] == [4, 5]
    assert series["values"][0]["continued"] != series["values"][0]["resumed"]
    assert "iteration 2 of the resumed run (5 of the continued run)" in " ".join(answer.out.split())


def test_a_training_that_reads_nothing_starts_over(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, f"{FEW} train.py blind", capsys)
    assert (answer.code, answer.report["headline"]) == (1, "STARTS OVER")
    assert "read nothing of ckpt.pkl" in answer.out


def test_a_checkpoint_of_several_files_that_is_rotated_away_is_resumed_by_its_arguments(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"{FEW} --resume-with 'from={{checkpoint}}/state.pkl at={{iteration}}' train.py folder"
    answer = check(inside, words, capsys)
    assert answer.report["headline"] == "RESUMES EXACTLY"
    place = answer.place
    assert place["checkpoint"]["paths"] == ["out/step-3/state.pkl", "out/step-3/trainer.json"]
    assert place["command"][-2:] == ["from=out/step-3/state.pkl", "at=3"]
    assert place["read"] == ["out/step-3/state.pkl"]


def test_a_checkpoint_that_is_read_through_a_link_is_read(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (inside / "newest").symlink_to("out/step-3")
    answer = check(inside, f"{FEW} --resume-with from=newest/state.pkl train.py folder", capsys)
    assert answer.report["headline"] == "RESUMES EXACTLY"
    assert answer.place["read"] == ["out/step-3/state.pkl"]


COUNTED_FROM_THE_RESUME = """
import os, pickle, random, reprocheck
random.seed(7)
weight, done = 1.0, 0
if os.path.exists("ckpt.pkl"):
    with open("ckpt.pkl", "rb") as file:
        weight, done = pickle.load(file)
data = [random.random() for _ in range(12)]
for number, value in enumerate(data[done:]):
    loss = (weight - value) ** 2
    reprocheck.log_loss(loss)
    weight -= 0.1 * loss
    if number == 1:
        with open("ckpt.pkl", "wb") as file:
            pickle.dump((weight, number + 1), file)
"""


def test_what_is_wrong_in_a_second_resume_alone_shows_at_the_place_twice(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, f"{FEW} --at twice train.py", capsys, COUNTED_FROM_THE_RESUME)
    first, twice = answer.report["places"]
    assert (first["name"], first["verdict"]) == ("first", "resumes_exactly")
    assert (twice["name"], twice["verdict"]) == ("twice", "does_not_resume_exactly")
    assert (answer.code, answer.report["headline"]) == (1, "DOES NOT RESUME EXACTLY")
    assert twice["checkpoint"]["iteration"] == 2
    assert "reprocheck explain --resume --at twice --go-on 3 train.py" in " ".join(
        answer.out.split()
    )


@pytest.mark.parametrize("writer", ["thread", "pool", "process"])
def test_who_writes_beside_the_training_is_waited_for(
    writer: str, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, f"{FEW} train.py {writer}", capsys)
    assert answer.report["headline"] == "RESUMES EXACTLY"
    assert answer.place["checkpoint"]["iteration"] == 3


@pytest.mark.parametrize(("how", "updates"), [("term train.py handles", 6), ("kill train.py", 3)])
def test_what_a_signal_leaves_is_resumed(
    how: str, updates: int, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, f"{FEW} --interrupt {how}", capsys)
    assert answer.report["headline"] == "RESUMES EXACTLY"
    assert (answer.place["offset"], answer.place["compared"]) == (updates, 3)
    assert len(answer.report["runs"]) == 3


def test_a_resumed_run_that_cannot_start_is_a_script_that_failed(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, f"{FEW} train.py fails", capsys)
    assert (answer.code, answer.report["headline"]) == (4, "SCRIPT FAILED")
    assert "KeyError" in answer.out and answer.place["read"] == ["ckpt.pkl"]


def test_a_resumed_run_that_breaks_off_is_a_script_that_failed_too(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, f"{FEW} train.py blind breaks", capsys)
    assert (answer.code, answer.report["headline"]) == (4, "SCRIPT FAILED")
    assert answer.place["compared"] == 1 and len(answer.place["losses"]) == 3
    said = " ".join(answer.out.split())
    assert "failed with exit status 1 after 1 iteration: KeyError: 'gone'" in said
    assert "failed at train.py:59" in said and '│ raise KeyError("gone")' in said
    assert "Run 2 failed with exit status 1. The end of its log:" in said


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("train.py never", "wrote no checkpoint between two of them"),
        ("train.py deletes", "gone again before the next iteration"),
        ("--at epoch-end train.py", "nothing tells where an epoch of this training ends"),
    ],
)
def test_without_a_checkpoint_the_answer_is_inconclusive(
    how: str, said: str, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, f"{FEW} {how}", capsys)
    assert (answer.code, answer.report["headline"]) == (3, "INCONCLUSIVE")
    assert said in " ".join(answer.out.split())


def test_a_place_without_a_checkpoint_is_said_to_be_unchecked(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = check(inside, f"{FEW} --at first --at second-epoch train.py", capsys)
    assert (answer.code, answer.report["headline"]) == (0, "RESUMES EXACTLY")
    said = "Not checked: second-epoch. No checkpoint was written there in the first 50 iterations;"
    assert said in " ".join(answer.out.split())
    assert any(line.startswith(said) for line in answer.report["caveats"])
    assert not check(inside, f"{FEW} train.py", capsys).report["caveats"]


def test_a_checkpoint_outside_is_refused_before_it_is_written_and_allowed_by_a_pattern(
    inside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = inside.parent / f"{inside.name}-outside"
    outside.mkdir()
    monkeypatch.setenv("OUTSIDE", str(outside))
    refused = check(inside, f"{FEW} train.py outside", capsys)
    assert refused.code == 2
    assert f"--checkpoint '{outside}/*'" in " ".join(refused.err.split())
    assert not list(outside.iterdir())
    words = f"{FEW} --checkpoint '{outside}/*.pkl' --resume-with 'from={{checkpoint}}' train.py"
    allowed = check(inside, f"{words} outside", capsys)
    assert allowed.report["headline"] == "RESUMES EXACTLY"
    assert not list(outside.iterdir())


def test_what_an_earlier_training_left_is_said(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (inside / "ckpt.pkl").write_bytes(_left())
    answer = check(inside, f"{FEW} train.py", capsys)
    assert answer.report["headline"] == "RESUMES EXACTLY"
    assert "ckpt.pkl, which an earlier training had left" in answer.report["caveats"][0]
    assert (inside / "ckpt.pkl").read_bytes() == _left()


def _left() -> bytes:
    import pickle
    import random

    held = {"w": 1.0, "v": 0.5, "step": 1, "rng": random.Random(1).getstate()}
    return pickle.dumps(held)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--at tomorrow train.py", "--at tomorrow"),
        ("--workdir inplace train.py", "--workdir inplace"),
        ('--resume-with "\'" train.py', "--resume-with"),
        ("--format csv train.py", "csv"),
        ("--ranks 0 train.py", "--ranks"),
        ("train.ipynb", "notebook"),
    ],
)
def test_what_cannot_be_done_is_refused(
    words: str, said: str, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (inside / "train.ipynb").write_text('{"cells": []}')
    answer: Answer = check(inside, words, capsys)
    assert answer.code == 2
    assert said in answer.err
    assert not (inside / "reports").exists()


def test_from_python_and_in_a_test(
    inside: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    (inside / "train.py").write_text(SCRIPT)
    with pytest.raises(
        AssertionError, match=r"(?s)STARTS OVER.*read nothing of ckpt\.pkl"
    ) as failed:
        Reprocheck(request).assert_resumes(inside / "train.py", "blind", go_on=2, draw=False)
    assert "report: " in str(failed.value)
    found = check_resume("train.py", go_on=2, draw=False)
    assert (found.title, found.exit_code, found.outcomes[0].compared) == ("RESUMES EXACTLY", 0, 2)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "text", ["", "{}", '{"places": [], "go_on": -1, "within": 1}', '{"places": 3}']
)
def test_a_record_that_is_none_is_an_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "resume.json").write_text(text)
    with pytest.raises(ReportError, match="not a record of a resume"):
        records.read(tmp_path)


def test_a_full_disk_ends_the_check_and_leaves_nothing(
    inside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reprocheck.resume.snapshots._keep_one", full)
    answer = check(inside, f"{FEW} train.py", capsys)
    assert answer.code == 2
    assert "No space left on device" in " ".join(answer.err.split())
    assert _files(inside) == {"train.py"}
    assert not list(inside.glob("reports/*"))


def test_an_interrupted_check_keeps_what_it_has_and_says_so(
    inside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(self: object, copy: Path, **_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("reprocheck.resume.snapshots.Snapshot.lay_over", interrupt)
    assert check(inside, f"{FEW} train.py", capsys).code == 130
    assert main(["report", "reports/latest"]) == 0
    assert capsys.readouterr().out.startswith("INCONCLUSIVE")
    assert not list(inside.glob("reports/latest/places*"))
    assert not list(inside.glob("reports/latest/workdir*"))
