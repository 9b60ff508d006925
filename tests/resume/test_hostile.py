"""Whatever stands in a recorded check of a resume, reading it ends with a report or with an error
that says what is wrong.

`REPROCHECK_TEST_FUZZ_EXAMPLES`: as for other recordings.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from reprocheck.cli import main
from reprocheck.errors import ReportError
from reprocheck.resume import records
from reprocheck.resume.check import load
from reprocheck.resume.report.formats import FORMATS
from tests.recording.fuzz.test_readers import often, scratch, values
from tests.resume.recorded import CHECKPOINT, RESUME, boundary, resumed

FACTS = boundary(3, (0.125,))


def read_all(folder: Path) -> None:
    """All that `reprocheck report` reads and draws of a check of a resume."""
    try:
        check = load(folder)
    except ReportError as error:
        assert error.message and error.fix
        return
    for one in FORMATS.values():
        assert one.render(check)


@st.composite
def changed_resume(draw: st.DrawFn) -> bytes:
    """A record of a resume with a value of another kind somewhere."""
    record: dict[str, Any] = json.loads(json.dumps(RESUME))
    place: Any = draw(
        st.sampled_from([record, record["places"][0], record["places"][0]["checkpoint"]])
    )
    place[draw(st.sampled_from(sorted(place)))] = draw(values)
    return json.dumps(record).encode()


@given(changed_resume() | st.binary(max_size=100))
@often
def test_any_record_of_a_resume_is_read_or_refused(content: bytes) -> None:
    with scratch() as path:
        read_all(resumed(path / "run", content))


@given(
    st.lists(st.tuples(st.sampled_from(range(len(FACTS))), st.sampled_from("ipkogrn"), values)),
    st.sampled_from([1, 2]),
)
@often
def test_any_facts_of_a_boundary_are_read(
    changes: list[tuple[int, str, object]], number: int
) -> None:
    names = {"k": "raw", "o": "out", "g": "g2", "n": "idx"}
    facts = [dict(fact) for fact in FACTS]
    for index, key, value in changes:
        facts[index][names.get(key, key)] = value
    with scratch() as path:
        folder = resumed(path / "run")
        trace = folder / f"run-{number}" / "trace" / "1-1.jsonl"
        lines = [json.dumps(fact).encode() for fact in (CHECKPOINT, *facts)]
        trace.write_bytes(trace.read_bytes() + b"\n".join(lines) + b"\n")
        read_all(folder)


def test_an_honest_one_is_drawn() -> None:
    with scratch() as path:
        check = load(resumed(path / "run"))
        assert check.title == "DOES NOT RESUME EXACTLY"
        statuses = {rung.name: rung.status for rung in check.decisive.explained.rungs}
        assert statuses["weights"] == statuses["RNG state"] == statuses["forward"] == "equal"


def changed(**keys: object) -> bytes:
    """The record with other values of its place."""
    record = json.loads(json.dumps(RESUME))
    record["places"][0].update(keys)
    return json.dumps(record).encode()


SCRIPT = "<script>alert(1)</script>\x1b[2J"
HOSTILE = {
    "no such run": changed(run=7),
    "the continued run": changed(run=1),
    "no such arm": changed(arms=[{"run": 7, "rungs": ["weights"]}]),
    "arms without end": changed(arms=[{"run": 2, "rungs": ["weights"]}] * 5000),
    "no such interrupted run": changed(interrupted=9),
    "a number that no training has": changed(checkpoint={"iteration": 10**12}),
    "a text that is a script": changed(
        name=SCRIPT,
        command=[SCRIPT],
        checkpoint={"iteration": 2, "by": SCRIPT, "line": SCRIPT, "paths": [SCRIPT], "size": -1},
    ),
    "places without end": json.dumps({**RESUME, "places": RESUME["places"] * 2000}).encode(),
    "brackets without end": b"[" * 100_000,
    "a bomb": b" " * (70 << 20),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_record_is_drawn_harmlessly_or_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = resumed(tmp_path / "run", content)
    code = main(["report", str(folder)])
    said = capsys.readouterr()
    assert code in (0, 2) and "Traceback" not in said.err
    assert "\x1b[2J" not in said.out + said.err
    if code == 0:
        for report in ("report.html", "report.md", "report.json"):
            assert SCRIPT not in (folder / report).read_text()
        assert "<script>alert" not in (folder / "report.html").read_text()


@pytest.mark.parametrize("stands", ["pipe", "link out", "folder", "no continued run"])
def test_what_is_no_file_of_the_recording_is_not_read(
    stands: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = resumed(tmp_path / "run")
    secret = tmp_path / "secret"
    secret.write_text("secret words")
    file = folder / records.NAME
    if stands == "no continued run":
        record = json.loads((folder / "record.json").read_text())
        (folder / "record.json").write_text(json.dumps({**record, "runs": record["runs"][1:]}))
    else:
        file.unlink()
    if stands == "pipe":
        os.mkfifo(file)
    elif stands == "link out":
        file.symlink_to(secret)
    elif stands == "folder":
        file.mkdir()
    code = main(["report", str(folder)])
    said = capsys.readouterr()
    assert code == (0 if stands == "no continued run" else 2)
    assert "secret words" not in said.out + said.err
