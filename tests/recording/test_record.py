"""record.json: what is written comes back, and what cannot be read says why."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.model import CheckRecord, EntryPoint, FileChanges, RunRecord, Setting, Tolerance
from reprocheck.recording import record as record_file


def a_run(number: int = 1, *, seconds: float = 1.5) -> RunRecord:
    return RunRecord(
        number=number,
        ended="stopped",
        exit_status=0,
        started="2025-01-01T00:00:00+00:00",
        seconds=seconds,
        trace=f"run-{number}/trace",
        stdout=f"run-{number}/stdout.log",
        stderr=f"run-{number}/stderr.log",
        files=FileChanges(created=("out/läst.pt",)),
        killed=2,
    )


def a_record(**changes: object) -> CheckRecord:
    content: dict[str, object] = {
        "reprocheck_version": "0.1.0",
        "entry_point": EntryPoint(command=("python", "train.py"), kind="script", name="train"),
        "started": "2025-01-01T00:00:00+00:00",
        "tolerance": Tolerance(),
        "settings": (
            Setting(name="steps", value=None, origin="--steps"),
            Setting(name="rtol", value=1e-3, origin="default"),
        ),
        "runs": (a_run(1), a_run(2)),
        "environment": {"python": "3.11", "cores": 2},
        "caveats": ("one",),
    }
    return CheckRecord(**{**content, **changes})  # type: ignore[arg-type]


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    record_file.write(tmp_path, a_record())
    assert record_file.read(tmp_path) == a_record()
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]
    assert (tmp_path / "record.json").read_text().startswith('{\n  "')


def test_a_second_write_replaces_the_first(tmp_path: Path) -> None:
    record_file.write(tmp_path, a_record(runs=(a_run(1),)))
    record_file.write(tmp_path, a_record())
    assert len(record_file.read(tmp_path).runs) == 2


def test_non_finite_numbers_survive(tmp_path: Path) -> None:
    written = a_record(
        runs=(a_run(seconds=math.inf),),
        tolerance=Tolerance(atol=math.nan),
        settings=(Setting(name="x", value=math.nan, origin="x"),),
    )
    record_file.write(tmp_path, written)
    read = record_file.read(tmp_path)
    assert read.runs[0].seconds == math.inf and math.isnan(read.tolerance.atol)
    assert read.settings[0].value == "nan"
    json.loads(
        (tmp_path / "record.json").read_text(), parse_constant=lambda name: pytest.fail(name)
    )


def test_values_that_json_does_not_know_are_written_as_text(tmp_path: Path) -> None:
    record_file.write(
        tmp_path,
        a_record(settings=(Setting(name="output", value=Path("reports"), origin="default"),)),
    )
    assert record_file.read(tmp_path).settings[0].value == "reports"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not a record"),
        (b"{", "is not a record"),
        (b"\xff\xfe", "is not a record"),
        (b"[" * 100_000, "is not a record"),
        (b"[]", "got `array`"),
        (b"{}", "schema_version is None"),
        (b'{"schema_version": "one"}', "schema_version is 'one'"),
        (b'{"schema_version": 0}', "schema_version is 0"),
        (b'{"schema_version": 1}', "reprocheck_version"),
        (b'{"schema_version": 2, "reprocheck_version": "9.9"}', "newer reprocheck (9.9"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "record.json").write_bytes(content)
    with pytest.raises(ReportError) as caught:
        record_file.read(tmp_path)
    assert says in caught.value.message and caught.value.fix


def test_a_folder_without_a_record(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ReportError, match="is not a report folder") as caught:
            record_file.read(folder)
        assert "reprocheck run" in caught.value.fix


def test_a_folder_that_was_removed_by_the_script(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="was removed while the runs were under way") as caught:
        record_file.write(tmp_path / "missing", a_record())
    assert "--output" in caught.value.fix


def test_a_failed_write_keeps_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_file.write(tmp_path, a_record(runs=()))

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ReportError, match="No space left"):
        record_file.write(tmp_path, a_record())
    assert record_file.read(tmp_path).runs == ()
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]
