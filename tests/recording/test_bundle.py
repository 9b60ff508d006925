"""A recording as one file: what comes from elsewhere is not trusted."""

from __future__ import annotations

import json
import shutil
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.model import CheckRecord, EntryPoint, RunRecord, Tolerance
from reprocheck.recording import bundle, record

TRACE = "run-1/trace/12-34.jsonl"


def run(**changed: str) -> RunRecord:
    places = {
        "trace": "run-1/trace",
        "stdout": "run-1/stdout.log",
        "stderr": "run-1/stderr.log",
    } | changed
    return RunRecord(
        number=1,
        ended="completed",
        exit_status=0,
        started="2026-01-01T00:00:00+00:00",
        seconds=1.0,
        **places,
    )


def folder_of(path: Path, one: RunRecord | None = None) -> Path:
    """The folder of a recording with one trace."""
    (path / "run-1" / "trace").mkdir(parents=True)
    (path / TRACE).write_text('{"e":"process"}\n')
    (path / "run-1" / "stdout.log").write_text("hello\n")
    made = CheckRecord(
        reprocheck_version="0",
        entry_point=EntryPoint(command=("python", "train.py"), kind="script", name="train"),
        started="2026-01-01T00:00:00+00:00",
        tolerance=Tolerance(),
        settings=(),
        runs=(one or run(),),
    )
    record.write(path, made)
    return path


@pytest.fixture
def packed(tmp_path: Path) -> Iterator[Path]:
    bundle.pack(folder_of(tmp_path / "report"), tmp_path / "run.zip")
    yield tmp_path / "run.zip"


def refused(path: Path) -> str:
    """The message of the error that opening it ends with; nothing may lie around afterwards."""
    with pytest.raises(ReportError) as caught, bundle.opened(path):
        pytest.fail("it was opened")
    assert caught.value.fix
    return caught.value.message


def test_what_is_packed_is_found_again_and_removed_afterwards(packed: Path) -> None:
    with bundle.opened(packed) as folder:
        assert bundle.files(folder) == ["record.json", "run-1/stdout.log", TRACE]
        assert (folder / TRACE).read_text() == '{"e":"process"}\n'
        assert bundle.read(folder).entry_point.name == "train"
    assert not folder.exists()


def test_reports_copies_and_links_are_not_packed(tmp_path: Path) -> None:
    report = folder_of(tmp_path / "report")
    (report / "report.html").write_text("")
    (report / "snapshot").mkdir()
    (report / "snapshot" / "pack").write_text("the user's")
    (report / "run-1" / "stderr.log").symlink_to("/etc/passwd")
    bundle.pack(report, tmp_path / "run.zip")
    assert sorted(zipfile.ZipFile(tmp_path / "run.zip").namelist()) == [
        "record.json",
        "run-1/stdout.log",
        TRACE,
    ]


@pytest.mark.parametrize(
    "name",
    [
        "../evil.py",
        "/etc/cron.d/evil",
        "run-1/trace/../../evil.jsonl",
        "run-1\\trace\\x.jsonl",
        "C:/evil",
    ],
)
def test_a_name_that_leads_out_of_the_folder_is_refused(packed: Path, name: str) -> None:
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr(name, "import os")
    assert "no file of a recording" in refused(packed)
    assert not list(packed.parent.glob("evil*"))


def test_the_zip_of_a_report_folder_is_a_recording_and_what_is_none_stays_in_it(
    tmp_path: Path,
) -> None:
    report = folder_of(tmp_path / "train-20260101-000000")
    for name in (
        "report.html",
        "sitecustomize.py",
        "module/left/data.csv",
        "arms/fix.patch",
        "arms/1-seed/run-1/trace/1-2.jsonl",
    ):
        (report / name).parent.mkdir(parents=True, exist_ok=True)
        (report / name).write_text("text")
    taken = [
        "arms/1-seed/run-1/trace/1-2.jsonl",
        "arms/fix.patch",
        "record.json",
        "run-1/stdout.log",
        TRACE,
    ]
    for place in (report, report.parent):
        zipped = Path(
            shutil.make_archive(
                str(tmp_path / f"of-{place.name}"),
                "zip",
                place,
                "." if place is report else report.name,
            )
        )
        with bundle.opened(zipped) as folder:
            assert bundle.files(folder) == taken
            assert sorted(path.name for path in folder.iterdir()) == [
                "arms",
                "record.json",
                "run-1",
            ]


def test_a_whole_check_is_packed_with_its_search_and_its_reports(tmp_path: Path) -> None:
    report = folder_of(tmp_path / "report")
    for name in ("report.html", "arms/1-seed/run-1/stdout.log", "arms/patched-files/train.py"):
        (report / name).parent.mkdir(parents=True, exist_ok=True)
        (report / name).write_text("text")
    bundle.pack_all(report, tmp_path / "all.zip", ["report.html", "report.md"])
    names = [
        "arms/1-seed/run-1/stdout.log",
        "record.json",
        "report.html",
        "run-1/stdout.log",
        TRACE,
    ]
    assert sorted(zipfile.ZipFile(tmp_path / "all.zip").namelist()) == names


def test_a_link_in_a_zip_becomes_a_plain_file(packed: Path) -> None:
    with zipfile.ZipFile(packed, "a") as archive:
        entry = zipfile.ZipInfo("run-1/stderr.log")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    with bundle.opened(packed) as folder:
        assert not (folder / "run-1" / "stderr.log").is_symlink()
        assert (folder / "run-1" / "stderr.log").read_text() == "/etc/passwd"


def test_a_zip_that_grows_beyond_what_it_says_or_may_is_refused(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "MOST_BYTES", 100)
    assert "more than" in refused(packed)
    monkeypatch.setattr(bundle, "MOST_BYTES", 1 << 30)
    data = bytearray(packed.read_bytes())
    # the last entry of the directory says that its file is shorter than it is
    end = data.rindex(b"PK\x01\x02")
    data[end + 24 : end + 28] = (1).to_bytes(4, "little")
    packed.write_bytes(data)
    assert refused(packed)


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.95])
def test_half_a_zip_is_said_to_be_one(packed: Path, kept: float) -> None:
    data = packed.read_bytes()
    packed.write_bytes(data[: int(kept * len(data)) if isinstance(kept, float) else kept])
    assert "not the whole" in refused(packed)


def test_a_damaged_file_in_a_zip_is_found(packed: Path) -> None:
    data = bytearray(packed.read_bytes())
    place = data.index(b"record.json") + 200
    data[place : place + 40] = bytes(40)
    packed.write_bytes(data)
    assert refused(packed)


@pytest.mark.parametrize("place", ["/etc", "../elsewhere", "run-1/../../x/trace", "~/.ssh"])
def test_a_record_that_names_places_elsewhere_is_refused(tmp_path: Path, place: str) -> None:
    assert "no place in a recording" in refused(folder_of(tmp_path / "report", run(trace=place)))


def test_a_record_of_a_newer_version_and_one_without_runs_say_so(tmp_path: Path) -> None:
    newer = folder_of(tmp_path / "newer")
    plain = json.loads((newer / "record.json").read_text())
    (newer / "record.json").write_text(
        json.dumps(plain | {"schema_version": 99, "reprocheck_version": "9.9"})
    )
    assert "newer reprocheck (9.9" in refused(newer)
    empty = folder_of(tmp_path / "empty")
    (empty / "record.json").write_text(json.dumps(plain | {"runs": []}))
    assert "holds no run" in refused(empty)


def test_what_is_no_recording_at_all(tmp_path: Path) -> None:
    assert "There is no recording" in refused(tmp_path / "nothing.zip")
    assert "not a report folder" in refused(tmp_path)
    (tmp_path / "text.zip").write_text("hello")
    assert "no recording" in refused(tmp_path / "text.zip")
