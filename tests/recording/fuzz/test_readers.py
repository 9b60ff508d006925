"""Whatever stands in a recording, its readers end with a result or with an error that says what is
wrong.

`REPROCHECK_TEST_FUZZ_EXAMPLES` says how many recordings each test tries: few in an ordinary run of
the tests, as many as take about half a minute in CI.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings, strategies as st

from reprocheck.errors import ReportError
from reprocheck.recording import bundle
from reprocheck.report import content, document, junit, markdown
from reprocheck.trace import events
from reprocheck.trace.deep_run import read_deep
from reprocheck.trace.executed_code import read_reached
from reprocheck.workflow import replay
from tests.recording.recordings import process, recording, training

EXAMPLES = int(os.environ.get("REPROCHECK_TEST_FUZZ_EXAMPLES", "25"))
often = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
LINES = [
    *process(0, 1, training([0.5, 0.25, 0.125])).decode().splitlines(),
    '{"e":"framework","name":"torch","version":"2","hooks":{"a":"ok"}}',
    '{"e":"rank","rank":0,"world":2}',
    '{"e":"environment","facts":{"python.version":"3.11"}}',
    '{"e":"optimizer","o":0}',
    '{"e":"regular","o":0,"k":"backward","d":"float32","s":0}',
    '{"e":"irregular","n":1,"u":true}',
    '{"e":"open","p":"a.txt","m":"r"}',
    '{"e":"control","c":"seed","w":"torch","n":1,"v":0,"l":"train.py:3"}',
    '{"e":"seeding","n":1,"w":"torch.manual_seed","v":"0","l":"train.py:3","g":["torch"]}',
    '{"e":"drawn","n":1,"i":1}',
    '{"e":"override","c":"seed","w":"torch","old":1,"new":2}',
    '{"e":"caveat","code":"x","text":"y"}',
    '{"e":"problem","where":"x","error":"y"}',
    '{"e":"fingerprints","hash":"xxh3","sketch":"1"}',
    '{"e":"seen","r":"weight","i":0,"p":"0.weight","in":[],"out":[["",{"h":"ab","d":"float32","s":[2],"z":1.0,"k":"0"}]]}',
    '{"e":"seen","r":"batch","i":1,"p":"DataLoader[0]","n":["a","b"],"idx":[0,1],"g":{"torch":"1"},"g2":{"torch":"2"}}',
    '{"e":"seen","r":"forward","i":1,"p":"0","k":"Linear","c":1,"out":[["",{"h":"cd"}]],"l":"train.py:3"}',
    '{"e":"ran","i":1,"f":["train.py"],"l":["train.py:3"],"d":["train.py:1"]}',
    '{"e":"series","n":"val","v":0.5,"d":"float32","i":1,"s":1.0,"by":"wandb","x":"1/3"}',
    '{"e":"origin","identity":[1],"task":"a","executor":"ray","time":1.0}',
    '{"e":"program","f":"train.py"}',
    '{"e":"moved"}',
    '{"e":"still"}',
    '{"e":"skip"}',
    '{"e":"checkpoint"}',
    '{"e":"broken","why":"x"}',
    '{"e":"unkept","p":["a.pt"],"removed":["b.pt"]}',
    '{"e":"outside"}',
    '{"e":"wrote","p":"a.txt"}',
    '{"e":"input","p":"a.txt","s":1,"t":1.0,"h":"ab","l":"train.py:3"}',
    '{"e":"variable","p":"SEED","v":"1","l":"train.py:3"}',
    '{"e":"note","code":"x","text":"y"}',
    '{"e":"conflict","c":"seed","w":"torch","v":1,"wanted":2,"l":"train.py:3"}',
    '{"e":"unavailable","c":"seed","why":"x"}',
    '{"e":"patched","p":"train.py"}',
    '{"e":"deep","level":"module"}',
    '{"e":"left","i":1,"why":"x"}',
    '{"e":"enough","i":1}',
    '{"e":"again"}',
    '{"e":"unrecorded","r":"forward","i":1}',
    '{"e":"sample","i":1,"t":0.5,"m":1000,"p":2000,"d":3000}',
    '{"e":"given","k":"network","v":{"number":0,"groups":[["data",[0,1]]]}}',
    '{"e":"given","k":"pass","v":{"place":"DataLoader[0]","order":"ab","count":64,"shuffles":true,"processes":[7,8]}}',
    '{"e":"given","k":"batch","v":{"place":"DataLoader[0]","iteration":1,"worker":0,"samples":["a","b"]}}',
    '{"e":"given","k":"task","v":{"fetcher":1,"number":2,"states":{"numpy":"ab"},"amounts":{"numpy":8}}}',
    '{"e":"given","k":"draw","v":{"place":"0","iteration":1,"inputs":["ab"],"class_":"Dropout","states":{"torch":"cd"}}}',
    '{"e":"stop","i":3}',
    '{"e":"exit","error":""}',
]
"""An event of each kind that the readers know."""


@st.composite
def changed_line(draw: st.DrawFn) -> bytes:
    """An event in which some values are others."""
    event: dict[str, Any] = json.loads(draw(st.sampled_from(LINES)))
    for key in draw(st.lists(st.sampled_from(sorted(event)), max_size=2)):
        if key != "e":
            event[key] = draw(values)
    return json.dumps(event).encode()


DEEP = b"[" * 900 + b"]" * 900


COUNTS = (100, 3_000, 20_000)


@st.composite
def amplified(draw: st.DrawFn, counts: Sequence[int]) -> bytes:
    """Few bytes that ask for much: an event again and again, or one with a value that is long,
    holds many others, or is nested.
    """
    line, count = draw(changed_line()), draw(st.sampled_from(counts))
    if draw(st.booleans()):
        return b"\n".join([draw(st.sampled_from((line, b"x", b"{}", b'{"e":"z"}')))] * count)
    event = json.loads(line)
    key = draw(st.sampled_from(sorted(event)))
    inside = draw(st.sampled_from(("x", 1, "1", [], ["", {}], {"a": 1})))
    many = [inside] * count, {str(number): inside for number in range(count)}, "a" * count
    if key != "e":
        event[key] = draw(st.sampled_from((*many, [[many[0]]], "DEEP")))
    return json.dumps(event).encode().replace(b'"DEEP"', DEEP)


@st.composite
def traces(draw: st.DrawFn, counts: Sequence[int] = COUNTS) -> bytes:
    """A trace of changed events, some of them cut or not text at all."""
    lines = draw(st.lists(changed_line() | st.binary(max_size=30), max_size=12))
    place = draw(st.integers(0, len(lines)))
    lines[place:place] = draw(st.lists(amplified(counts), max_size=1))
    text = b"\n".join([LINES[0].encode(), *lines, LINES[1].encode()]) + b"\n"
    cut = draw(st.integers(0, 20))
    return text[: len(text) - cut]


@contextmanager
def scratch() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp())
    try:
        yield path
    finally:
        shutil.rmtree(path)


def read_all(folder: Path) -> None:
    """Everything that a command reads of a folder, and the formats that show most of it."""
    try:
        check = replay.load(folder)
    except ReportError as error:
        assert error.message and error.fix
        return
    for run in check.record.runs:
        deep = read_deep(folder, run)
        for rank in deep.ranks:
            deep.read(rank)
        for path in (folder / run.trace).glob("*.jsonl"):
            read_reached(path)
    markdown.render(content.report(check))
    for render in (document.render, junit.render):
        assert render(check)


@given(traces(), traces(), st.binary(max_size=80))
@example(
    LINES[0].encode(),
    LINES[0].encode() + b'\n{"e": "loss", "k": "backward", "v": [0.5], "d": ""}',
    b"",
)
@often
def test_any_trace_is_read_and_drawn(one: bytes, other: bytes, column: bytes) -> None:
    with scratch() as path:
        folder = recording(path / "run", {"1-1": one, "2-2": other})
        (folder / "run-1" / "trace" / "1-1.losses").write_bytes(column)
        read_all(folder)


@given(st.lists(traces((100, 500)), min_size=2, max_size=3), st.integers(2, 60), st.booleans())
@settings(often, max_examples=max(EXAMPLES // 8, 3))
def test_many_traces_are_read_and_drawn(some: list[bytes], count: int, one_number: bool) -> None:
    """Processes of one number, or each started by the one before.

    Here many files ask for much; how much one file may ask for, the test above tries.
    """
    with scratch() as path:
        files = {
            f"{n}-{n}": process(None, None, [], pid=1 if one_number else n + 1, ppid=n) + text
            for n, text in zip(range(count), some * count, strict=False)
        }
        read_all(recording(path / "run", files))


@st.composite
def changed_record(draw: st.DrawFn) -> bytes:
    """A record with values of other kinds somewhere."""
    with scratch() as path:
        folder = recording(path / "run", {"1-1": b""})
        record = json.loads((folder / "record.json").read_text())
    place = record
    while True:
        key = draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or not place[key] or draw(st.booleans()):
            break
        place = place[key]
    place[key] = draw(values)
    return json.dumps(record).encode()


@given(changed_record() | st.binary(max_size=200), values)
@often
def test_any_record_and_any_kept_source_is_read_or_refused(record: bytes, sources: object) -> None:
    with scratch() as path:
        folder = recording(path / "run", {"1-1": process(0, 1, training([0.5, 0.25, 0.125]))})
        (folder / "record.json").write_bytes(record)
        (folder / "sources.json").write_text(json.dumps({"files": sources, "closed": True}))
        read_all(folder)


@given(
    st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 255)), max_size=6), st.integers(0, 200)
)
@often
def test_any_zip_is_opened_or_refused(changes: list[tuple[int, int]], cut: int) -> None:
    with scratch() as path:
        folder = recording(path / "run", {"1-1": process(0, 1, training([0.5, 0.25, 0.125]))})
        target = path / "run.zip"
        bundle.pack(folder, target)
        data = bytearray(target.read_bytes())
        for place, value in changes:
            data[place % len(data)] = value
        target.write_bytes(data[: len(data) - cut])
        try:
            with bundle.opened(target) as opened:
                read_all(opened)
        except ReportError as error:
            assert error.message and error.fix
        else:
            assert zipfile.is_zipfile(target)


def test_the_lines_are_events_that_the_readers_know() -> None:
    kinds = {json.loads(line)["e"] for line in LINES}
    assert kinds == {kind.__struct_config__.tag for kind in events.Event.__subclasses__()}
    with scratch() as path:
        folder = recording(path / "run", {"1-1": "\n".join(LINES).encode() + b"\n"})
        check = replay.load(folder)
        assert not [line for line in check.coverage if "no events" in line or "not known" in line]
        assert read_deep(folder, check.record.runs[0]).read(0).seen
        (reached,) = read_reached(folder / "run-1" / "trace" / "1-1.jsonl")
        assert reached.lines == (("train.py", 3),)
