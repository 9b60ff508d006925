from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.cli.resume import TAKEN_FROM_RUN
from reprocheck.suite.execution import Job
from reprocheck.suite.execution.job import (
    OF_RESUME,
    OWN_OPTIONS,
    command_words,
    option_words,
)
from reprocheck.suite.target import Target

OPTIONS = {"steps": 20, "rtol": 0.01, "runs": 3, "seed": 7, "workdir": "copy", "draw": False}


def job(**fields: object) -> Job:
    target = Target(
        name="a", words=("train.py", "--lr", "0.1"), workdir=Path("/w"), options=OPTIONS
    )
    return Job(target=target, night="n", root=Path("/suite"), place="nights/n/a/x", **fields)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": 20}, "--steps 20"),
        ({"steps": "all"}, "--steps all"),
        ({"timeout": "none"}, "--timeout none"),
        ({"rtol": 1e-05}, "--rtol 1e-05"),
        ({"draw": False}, "--no-draw"),
        ({"draw": True}, "--draw"),
        ({"no_dropout": True}, "--no-dropout"),
        ({"no_dropout": False}, ""),
        ({"control": ["seed", "workers"]}, "--control seed --control workers"),
        ({"control": "seed"}, "--control seed"),
        ({"fail_on": "bitwise,series:a, b"}, "--fail-on|bitwise,series:a, b"),
        ({"output": "x", "quiet": True, "keep": 3}, ""),
    ],
)
def test_settings_become_options(options: dict[str, object], words: str) -> None:
    separator = "|" if "|" in words else None
    assert list(option_words(options)) == words.split(separator)


def test_a_check_is_the_command_that_one_would_type() -> None:
    words = command_words(job(), Path("/out"))
    assert words[0] == "run"
    assert words[-3:] == ("train.py", "--lr", "0.1")
    assert " ".join(words[-7:-3]) == "--output /out --color never"
    assert "--steps 20 --rtol 0.01" in " ".join(words)


def test_a_recording_has_no_option_of_a_comparison() -> None:
    words = command_words(job(kind="recording"), Path("/out"))
    assert words[0] == "record"
    assert {"--runs", "--rtol", "--no-draw"}.isdisjoint(words)
    assert "--steps 20" in " ".join(words)
    assert "--level module -o /out/recording.zip" in " ".join(words)


def test_a_check_of_a_resume_has_its_own_options_and_those_of_run_that_it_shares() -> None:
    resume = {"with": "--from {checkpoint}", "at": ("first", "3"), "go-on": 20}
    made = job()
    words = command_words(replace(made, target=replace(made.target, resume=resume)), Path("/out"))
    assert words[0] == "resume"
    assert "--steps" not in words and "--runs" not in words and "--workdir" not in words
    assert words[1:6] == ("--rtol", "0.01", "--no-draw", "--seed", "7")
    assert words[6:12] == ("--resume-with", "--from {checkpoint}", "--at", "first", "--at", "3")
    assert words[12:14] == ("--go-on", "20")
    assert words[-3:] == ("train.py", "--lr", "0.1")


def test_the_options_that_resume_shares_with_run_are_those_of_the_command() -> None:
    assert set(OF_RESUME) == set(TAKEN_FROM_RUN) - set(OWN_OPTIONS)


@pytest.mark.parametrize(
    ("file", "target", "alone"),
    [
        ("", {}, True),
        ("", {"options": {"workdir": "copy"}}, False),
        ('workdir = "copy"', {}, False),
        ('workdir = "copy"', {"options": {"workdir": "inplace"}}, True),
        ('workdir = "copy"', {"environment": {"REPROCHECK_WORKDIR": "inplace"}}, True),
        ("workdir = 1", {}, True),
        ("", {"resume": {}}, False),
    ],
)
def test_a_job_whose_runs_have_copies_is_not_alone(
    file: str, target: dict[str, object], alone: bool, tmp_path: Path
) -> None:
    (tmp_path / "reprocheck.toml").write_text(file)
    below = tmp_path / "below"
    below.mkdir()
    made = Target(name="a", words=(), workdir=below, **target)
    assert Job(target=made, night="n", root=tmp_path, place="x").is_alone is alone
