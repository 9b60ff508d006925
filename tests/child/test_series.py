"""What a training reports beside its losses is recorded: each value with every bit, under its name,
at its iteration.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.child.recording import Recording, record
from tests.conftest import mindspore_python, needs

SCRIPTS = Path(__file__).parent / "scripts" / "series"
Value = tuple[str, str, str, int, float | None]


def recorded(recording: Recording) -> list[Value]:
    """Name, tracker, value in hexadecimal, iteration and step of each value."""
    return [
        (event["n"], event.get("by", ""), float(event["v"]).hex(), event["i"], event.get("s"))
        for event in recording.events("series")
    ]


def reported(recording: Recording) -> list[Value]:
    """What the script says that it has reported, in its last line."""
    assert recording.done.returncode == 0, recording.done.stderr
    assert not recording.events("problem")
    return [tuple(value) for value in json.loads(recording.done.stdout.splitlines()[-1])]


def run(script: str, folder: Path, **kwargs: Any) -> Recording:
    return record((SCRIPTS / script).read_text(), folder, **kwargs)


@pytest.mark.torch
def test_torch_and_its_writers(tmp_path: Path) -> None:
    recording = run("torch_loop.py", tmp_path)
    assert sorted(recorded(recording), key=str) == sorted(reported(recording), key=str)
    dtypes = {(event["n"], event["d"]) for event in recording.events("series")}
    assert {("accuracy", "float32"), ("learning_rate", "float64")} <= dtypes
    # what is logged in between leaves a regular stretch what it is
    assert len(recording.events("regular")) == 1


@pytest.mark.torch
def test_lightning_and_transformers(tmp_path: Path) -> None:
    recording = run("trainers.py", tmp_path)
    said = {(name, by) for name, by, *_ in reported(recording)}
    found = [value for value in recorded(recording) if (value[0], value[1]) in said]
    assert found == [value for value in reported(recording) if (value[0], value[1]) in said]
    # both clip by the function of torch
    assert len([value for value in recorded(recording) if value[0] == "grad_norm"]) >= 5


@pytest.mark.torch
def test_keras_and_tensorflow(tmp_path: Path) -> None:
    needs("tensorflow")
    recording = run("keras_fit.py", tmp_path, KERAS_BACKEND="tensorflow")
    assert sorted(recorded(recording), key=str) == sorted(reported(recording), key=str)


@pytest.mark.mindspore
def test_mindspore(tmp_path: Path) -> None:
    recording = run("mindspore_fit.py", tmp_path, python=mindspore_python())
    assert recorded(recording) == reported(recording)


def test_trackers_that_are_given_dictionaries_and_objects(tmp_path: Path) -> None:
    recording = run("shapes.py", tmp_path)
    assert recorded(recording) == reported(recording)
    assert next(event["x"] for event in recording.events("series") if event["v"] == 2**60)


def test_a_secret_in_the_name_of_a_series_is_masked(tmp_path: Path) -> None:
    token = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345"
    names = f"metric/{token}", f"{'x' * 180}/{token}", "accuracy"
    lines = [f"reprocheck.log(**{{{name!r}: 1.0}})" for name in names]
    script = "\n".join(("import reprocheck", *lines, "reprocheck.log_loss(1.0)"))
    recording = record(script, tmp_path)
    shown = [event["n"] for event in recording.events("series")]
    assert shown == ["metric/<secret>", f"{'x' * 180}/<secret>", "accuracy"]
