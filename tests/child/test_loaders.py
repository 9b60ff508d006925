"""Files that C++ code opens by itself are told of, whichever library reads or writes them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from reprocheck.launch.workdir.file_events import read_events
from tests.conftest import CHILD, clean_environment, mindspore_python

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class Told:
    """What a recorded script is said to have done in its folder.

    read    files that it read        written   paths that it wrote or removed
    unseen  what stands there then and nobody is said to have written
    """

    read: set[str]
    written: set[str]
    unseen: list[str]


def told_of(python: str, script: str, folder: Path) -> Told:
    trace, work = folder / "trace", folder / "work"
    trace.mkdir()
    work.mkdir()
    settings = {
        "steps": None,
        "level": "loss",
        "workdir": str(work),
        "output": str(trace),
        "stop_wait": 20,
        "mask": {},
    }
    (trace / "recorder.json").write_text(json.dumps(settings))
    environment = clean_environment(REPROCHECK_CHILD=str(trace), PYTHONPATH=str(CHILD))
    subprocess.run(
        [python, str(SCRIPTS / script)],
        cwd=work,
        env=environment,
        check=True,
        capture_output=True,
        timeout=280,
    )
    traces = list(trace.glob("*.jsonl"))
    events = [
        json.loads(line) for file in traces for line in file.read_text().rstrip("\0").splitlines()
    ]
    assert not [event for event in events if event["e"] == "problem"]
    read = {
        event["p"]
        for event in events
        if event["e"] == "input" and event.get("h") and not event["p"].startswith(("/", "~"))
    }
    told = read_events(traces)
    stands = (path.relative_to(work).as_posix() for path in sorted(work.rglob("*")))
    return Told(
        read=read, unseen=[path for path in stands if not told.wrote(path)], written=told.written
    )


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="TensorFlow is not installed")
def test_what_keras_and_tensorflow_load_and_save(tmp_path: Path) -> None:
    told = told_of(sys.executable, "loads_keras.py", tmp_path)
    assert {
        "model.keras",
        "model.weights.h5",
        "saved/saved_model.pb",
        "saved/variables/variables.index",
    } <= told.read
    assert {
        "checkpoint.index",
        "records.tfrecord",
        "managed/deep/checkpoint",
        "cached.index",
    } <= told.read
    assert any(
        path.startswith("frozen/") and path.endswith("/snapshot.metadata") for path in told.read
    )
    assert told.unseen == []
    assert {"removed", "cleared", "managed/deep/ckpt-1.index", "made/by/copy"} <= told.written
    stands = {
        path.relative_to(tmp_path / "work").as_posix() for path in (tmp_path / "work").rglob("*")
    }
    assert {
        "sharded/part-1.data-00001-of-00002",
        "managed/deep/ckpt-2.index",
        "cached.index",
        "filled/by/an-operator",
    } <= stands


@pytest.mark.mindspore
def test_what_mindspore_loads_and_saves(tmp_path: Path) -> None:
    told = told_of(mindspore_python(), "loads_mindspore.py", tmp_path)
    assert {"net.ckpt", "net.safetensors", "lines.txt", "rows.mindrecord"} <= told.read
    assert told.unseen == []
