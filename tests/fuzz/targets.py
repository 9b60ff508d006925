"""What is given bytes of a stranger: each target reads them to the end, or says what is wrong.

A target raises nothing but for a mistake of ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from reprocheck.errors import ReprocheckError
from reprocheck.recording import bundle
from reprocheck.redaction import Detector
from reprocheck.report.spreadsheet import marked, unmarked
from reprocheck.suite.baselines import document
from reprocheck.suite.baselines.foreign.read import FORMATS, read
from reprocheck.suite.curves import pack, unpack
from reprocheck.suite.targets import load
from tests.recording.fuzz.test_readers import LINES, read_all, scratch
from tests.recording.recordings import process, recording, training
from tests.resume.recorded import RESUME, boundary, resumed
from tests.resume.test_hostile import read_all as read_resume

Target = Callable[[bytes], None]
HONEST = process(0, 1, training([0.5, 0.25, 0.125]))
STATES = b"".join(json.dumps(fact).encode() + b"\n" for fact in boundary(4, (0.5,)))


def _trace(data: bytes) -> None:
    """A trace; what stands behind a zero byte is its column of losses."""
    lines, _, column = data.partition(b"\0")
    with scratch() as path:
        folder = recording(path / "run", {"1-1": lines, "2-2": HONEST})
        (folder / "run-1" / "trace" / "1-1.losses").write_bytes(column)
        read_all(folder)


def _record(data: bytes) -> None:
    with scratch() as path:
        folder = recording(path / "run", {"1-1": HONEST})
        (folder / "record.json").write_bytes(data)
        read_all(folder)


def _resume(data: bytes) -> None:
    """`resume.json`; what stands behind a zero byte follows the trace of the resumed run."""
    record, _, facts = data.partition(b"\0")
    with scratch() as path:
        folder = resumed(path / "run", record)
        with (folder / "run-2" / "trace" / "1-1.jsonl").open("ab") as trace:
            trace.write(facts)
        read_resume(folder)


def _zip(data: bytes) -> None:
    with scratch() as path:
        file = path / "run.zip"
        file.write_bytes(data)
        with bundle.opened(file) as folder:
            read_all(folder)


def _curves(data: bytes) -> None:
    again = pack(unpack(data))
    assert pack(unpack(again)) == again


def _baselines(data: bytes) -> None:
    for one in document.read(data, "baselines.json"):
        unpack(one.curves)


def _foreign(data: bytes) -> None:
    """A file of another program; its first byte says which format it is read as."""
    formats = (None, *FORMATS)
    with scratch() as path:
        file = path / "curves"
        file.write_bytes(data[1:])
        read(file, formats[sum(data[:1]) % len(formats)])


def _settings(data: bytes) -> None:
    with scratch() as path:
        (path / "reprocheck.toml").write_bytes(data)
        load(path)


def _cells(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    assert unmarked(marked(text)) == text


def _text(data: bytes) -> None:
    """What a report or an attachment shows: no text takes long, and none is masked into a longer
    one without end.
    """
    text = data.decode("utf-8", "replace")
    shown = Detector(("/home/anna", "anna", "gpu07"), known=["resnet-Big"]).masked(text)
    assert len(shown) <= 20 * len(text) + 100


TARGETS: Mapping[str, Target] = {
    "trace": _trace,
    "record": _record,
    "resume": _resume,
    "zip": _zip,
    "curves": _curves,
    "baselines": _baselines,
    "foreign": _foreign,
    "settings": _settings,
    "cells": _cells,
    "text": _text,
}


def run(name: str, data: bytes) -> None:
    """One input of a target. What a user is told is no mistake of ours, as long as it says what to
    do.
    """
    try:
        TARGETS[name](data)
    except ReprocheckError as error:
        assert error.message and error.fix


def seeds(name: str, folder: Path) -> None:
    """Honest inputs of a target, from which others are made."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(_SEEDS[name]()):
        (folder / f"seed-{number}").write_bytes(content)


def _packed() -> list[bytes]:
    with scratch() as path:
        folder = recording(path / "run", {"1-1": HONEST})
        bundle.pack(folder, path / "run.zip")
        record = (folder / "record.json").read_bytes()
        return [(path / "run.zip").read_bytes(), record]


def _of_curves() -> list[bytes]:
    from tests.suite.pages.samples import curves

    return [curves()]


def _exported() -> list[bytes]:
    from reprocheck.suite.model import Baseline, Key

    (packed,) = _of_curves()
    key = Key(facts={"torch": "2.13.0"})
    one = Baseline(target="a", key=key, curves=packed, why="It is.", who="me", when=1.0)
    return [document.export([one])]


_FOREIGN = (
    b'\1{"lm loss": {"start_step": 0, "end_step": 2, "step_interval": 1, "values": [1.5, 0.5]}}',
    b"\2# step loss grad_norm\n1 0.5 2.0\n2 0.25 1.0\n",
    b"\3step,loss\n1,0.5\n2,0.25\n",
    b"\3run,rank,series,by,iteration,index,step,value,dtype\n1,0,loss,,1,0,1,0.5,float32\n",
)
_SEEDS: Mapping[str, Callable[[], list[bytes]]] = {
    "trace": lambda: [HONEST, "\n".join(LINES).encode() + b"\n\0" + bytes(16)],
    "record": lambda: _packed()[1:],
    "resume": lambda: [json.dumps(RESUME).encode() + b"\0" + STATES],
    "zip": lambda: _packed()[:1],
    "curves": _of_curves,
    "baselines": _exported,
    "foreign": lambda: list(_FOREIGN),
    "settings": lambda: [b'[[target]]\nname = "a"\nrun = "train.py {lr}"\nmatrix = { lr = [1] }\n'],
    "cells": lambda: [b"=1+1", b"a;'=1"],
    "text": lambda: [
        b"key='hf_abc' http://a:b@c.io 10.2.3.4 fe80::1 /srv/x/y.py eyJa.eyJb +1 (2)-3"
    ],
}
