"""Recordings that strangers have made take no more memory and time than their honest size
explains.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.files import limits
from reprocheck.recording import bundle, record
from tests.recording.recordings import process, recording, training

MIB = 1 << 20
ZEROS = b"\0" * MIB
HONEST = process(None, None, training([0.5, 0.25, 0.125]))


def bomb(path: Path, more: dict[str, Iterator[bytes]]) -> Path:
    """A recording with one trace, in which some files are made of these pieces."""
    folder = recording(path / "honest", {"1-1": HONEST})
    target = path / "bomb.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in bundle.files(folder):
            if name not in more:
                archive.write(folder / name, name)
        for name, pieces in more.items():
            with archive.open(name, "w", force_zip64=True) as out:
                for piece in pieces:
                    out.write(piece)
    return target


def pieces(piece: bytes, count: int, before: bytes = b"", after: bytes = b"") -> Iterator[bytes]:
    yield before
    for _ in range(count):
        yield piece
    yield after


REFUSED: dict[str, Callable[[], dict[str, Iterator[bytes]]]] = {
    "1 GiB of zeros as losses": lambda: {"run-1/trace/1-1.losses": pieces(ZEROS, 1023)},
    "1 GB of source": lambda: {
        "sources.json": pieces(b"a" * MIB, 1000, b'{"files": {"train.py": "', b'"}}')
    },
    "a record of 100 MB": lambda: {
        "record.json": pieces(b" " * MIB, 100, b'{"schema_version": 1}')
    },
    "a trace of one line without an end": lambda: {
        "run-1/trace/1-1.jsonl": pieces(b"[" * MIB, 600)
    },
    "many facts": lambda: {
        "run-1/trace/1-1.jsonl": pieces(b'{"e":"seen","r":"x"}\n' * 50_000, 200)
    },
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, name: str) -> None:
    path = bomb(tmp_path, REFUSED[name]())
    assert path.stat().st_size < 6 * MIB
    with pytest.raises(ReportError, match="MiB") as caught, bundle.opened(path):
        pytest.fail("it was opened")
    assert caught.value.fix


def test_a_zip_whose_files_overlap_is_refused(tmp_path: Path) -> None:
    path = bomb(tmp_path, {})
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    entries[0].compress_size = path.stat().st_size
    with pytest.raises(ReportError, match="overlap"):
        bundle._check_entries(path, entries)


def test_a_folder_with_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    folder = recording(tmp_path / "run", {"1-1": HONEST})
    with (folder / "sources.json").open("wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(ReportError, match="20,480 MiB"):
        record.read(folder)


def test_a_record_with_more_than_a_check_has_is_refused(tmp_path: Path) -> None:
    folder = recording(tmp_path / "run", {"1-1": HONEST})
    plain = json.loads((folder / "record.json").read_text())
    plain["environment"] = dict.fromkeys(map(str, range(20_000)), 1)
    (folder / "record.json").write_text(json.dumps(plain))
    with pytest.raises(ReportError, match="20,000 facts of the environment"):
        record.read(folder)


def test_a_record_without_a_command_is_refused(tmp_path: Path) -> None:
    folder = recording(tmp_path / "run", {"1-1": HONEST})
    plain = json.loads((folder / "record.json").read_text())
    plain["entry_point"]["command"] = []
    (folder / "record.json").write_text(json.dumps(plain))
    with pytest.raises(ReportError, match="names no command"):
        record.read(folder)


def test_honest_files_shrink_far_less_than_a_bomb() -> None:
    kinds = {kind.name: kind for kind in limits.KINDS}
    assert limits.unpacked_too_large([("run-1/trace/1-1.losses", 16 * MIB, 20_000)]) == ""
    assert limits.unpacked_too_large([("run-1/trace/1-1.jsonl", 400 * MIB, 40 * MIB)]) == ""
    assert limits.unpacked_too_large([("run-1/stdout.log", kinds["log"].most + 1, 1 << 40)])
    assert limits.unpacked_too_large([("elsewhere.txt", 1 << 50, 1)]) == ""


def test_a_run_that_a_record_names_again_and_again_is_refused(tmp_path: Path) -> None:
    folder = recording(tmp_path / "run", {"1-1": HONEST})
    plain = json.loads((folder / "record.json").read_text())
    plain["runs"] = [{**plain["runs"][0], "number": number} for number in range(1, 1_000)]
    (folder / "record.json").write_text(json.dumps(plain))
    path = tmp_path / "run.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in bundle.files(folder):
            archive.write(folder / name, name)
    refused = pytest.raises(ReportError, match="999 runs in one folder")
    with refused as caught, bundle.opened(path):
        pytest.fail("it was opened")
    assert str(path / "record.json") in caught.value.message


# What is accepted stays small in memory, too: each of these is drawn by a process of its own under
# a limit.
PROCESS, UPDATE = process(None, None, []), b'{"e":"update","o":0,"c":true}\n'
DEEP = b"[" * 900 + b"]" * 900
HOSTILE = {
    "losses in one event": b'{"e":"loss","v":[' + b"1," * MIB + b"1]}\n" + UPDATE,
    "losses in many events": (b'{"e":"loss","v":[' + b"1," * 90_000 + b"1]}\n" + UPDATE) * 20,
    "losses that are texts": b'{"e":"loss","v":[' + b'"1",' * MIB + b"1]}\n" + UPDATE,
    "names of dtypes": b'{"e":"loss","v":[1],"d":[' + b'"a",' * MIB + b'"b"]}\n' + UPDATE,
    "no events": b"x\n" * (4 * MIB),
    "no objects": b"{}\n" * (2 * MIB),
    "unknown events": b"".join(b'{"e":"z%d"}\n' % n for n in range(300_000)),
    "nested facts": b'{"e":"environment","facts":{"a":' + DEEP + b"}}\n",
    "nested values of controls": b'{"e":"override","c":"seed","w":"a","old":' + DEEP + b"}\n",
    "forks": b'{"e":"process","pid":7,"forks":[' + b"1," * MIB + b"1]}\n",
    "arguments": b'{"e":"process","pid":7,"argv":[' + b'"a",' * MIB + b'"a"]}\n',
    "hooks": b'{"e":"framework","name":"f","hooks":{'
    + b",".join(b'"%d":"b"' % n for n in range(200_000))
    + b"}}\n",
    "what was not recorded": b"".join(
        b'{"e":"unrecorded","where":"%d","why":"b"}\n' % n for n in range(100_000)
    ),
    "names of series": b"".join(
        b'{"e":"series","n":"%d%s","v":1}\n' % (n, b"a" * 5_000) for n in range(2_000)
    ),
}
"""Lines that would make a reader keep or do far more than they are long."""
ENDLESS = b'{"e":"open","p":"' + b"x" * 100 + b'"}\n'
ACCEPTED: dict[str, Callable[[], dict[str, bytes]]] = {
    "a world of a million million": lambda: {"1-1": process(0, 10**12, training([0.5, 0.25]))},
    "a world of a million": lambda: {"1-1": process(0, 10**6, training([0.5, 0.25]))},
    "a million facts of the environment": lambda: {
        "1-1": HONEST
        + b"".join(
            json.dumps(
                {"e": "environment", "facts": {f"k{at + n}": 1 for n in range(50_000)}}
            ).encode()
            + b"\n"
            for at in range(0, 1_000_000, 50_000)
        )
    },
    "lines without an end": lambda: {"1-1": HONEST + b"[" * (30 * MIB)},
    "sentences, files and facts without number": lambda: {
        "1-1": HONEST
        + b'{"e":"caveat","text":"c"}\n' * 100_000
        + ENDLESS * 100_000
        + b'{"e":"seen","r":"forward"}\n' * 300_000
        + b'{"e":"framework","name":"f","hooks":{"a":"b"}}\n' * 100_000
    },
    "a trace of each kind": lambda: {
        f"{number}-1": PROCESS + lines + HONEST for number, lines in enumerate(HOSTILE.values())
    },
    "a million losses in one iteration, one by one": lambda: {
        "1-1": PROCESS + b'{"e":"loss","v":[1]}\n' * 700_000 + UPDATE
    },
    "a column that is read again and again": lambda: {
        "1-1": PROCESS
        + b'{"e":"regular","s":0}\n{"e":"irregular"}\n' * 1_000
        + b'{"e":"regular","s":0}\n{"e":"irregular","n":9}\n' * 100_000,
        "1-1.losses": bytes(4 * MIB),
    },
    "three thousand starts, each by the one before": lambda: {
        f"{n}-{n}": process(None, None, training([0.5]), pid=n + 1, time=float(n), ppid=n)
        for n in range(3_000)
    },
    "three thousand processes of one number": lambda: {
        f"{n}-{n}": process(None, None, training([0.5]), pid=7, time=float(n), ppid=7)
        for n in range(3_000)
    },
    "a thousand traces": lambda: {
        f"{n}-{n}": process(n % 3, 3, training([0.5]), pid=n) for n in range(1_000)
    },
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_accepted_is_drawn_within_its_share_of_memory_and_time(
    tmp_path: Path, name: str
) -> None:
    files = ACCEPTED[name]()
    columns = {file: files.pop(file) for file in list(files) if file.endswith(".losses")}
    folder = recording(tmp_path / "run", files)
    for file, content in columns.items():
        (folder / "run-1" / "trace" / file).write_bytes(content)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    code = "import sys; from reprocheck.cli import main; sys.exit(main())"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-c", code, "report", str(folder), "--format", "json"]
    command = ["/usr/bin/env", "python3", "-c", WATCH, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = int(done.stderr.rsplit("PEAK ", 1)[1])
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode != 70, done.stderr
    assert peak * 1024 < 400 * MIB + 4 * size, (peak, size)
    assert seconds < 22, seconds


WATCH = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print("PEAK", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)
"""
