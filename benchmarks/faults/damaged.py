"""Recordings that are cut, and files that are written while their writer is killed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.faults.kills import POINTS
from benchmarks.faults.place import Asked, Place, once
from benchmarks.faults.seen import Fault, Seen, looked_at

OLD = b"the file that was there before\n"
LATEST = "reports/latest"


@dataclass(frozen=True, kw_only=True, slots=True)
class Writing:
    """A command that writes a file of the user's, which was there before.

    words  behind `reprocheck`; the file is `out` with its suffix
    """

    name: str
    words: tuple[str, ...]
    suffix: str

    @property
    def file(self) -> str:
        """Its name in the project."""
        return f"out{self.suffix}"


WRITINGS = (
    Writing(name="bundle -o", words=("bundle", LATEST, "-o"), suffix=".zip"),
    Writing(name="report -o", words=("report", LATEST, "-o"), suffix=".json"),
    Writing(name="report -o, packed", words=("report", LATEST, "-o"), suffix=".zip"),
    Writing(name="merge -o", words=("merge", "one", "two", "-o"), suffix=".zip"),
    Writing(name="compare -o", words=("compare", "one", "three", "-o"), suffix=".json"),
    Writing(name="scan -o", words=("scan", "train.py", "-o"), suffix=".sarif"),
)


def faults() -> Iterator[Fault]:
    """All of this group."""
    cuts: tuple[tuple[str, Callable[[Path, int], Seen], tuple[int, ...]], ...] = (
        ("a trace is cut in the middle of a line", trace_cut, (0,)),
        ("record.json is cut", record_cut, (2,)),
    )
    for name, make, ends in cuts:
        yield Fault(group="Damaged", name=name, make=make, points=POINTS, ends=ends)
    for writing in WRITINGS:
        yield Fault(
            group="Damaged",
            name=f"`reprocheck {writing.name}` is killed while it writes",
            make=partial(interrupted, writing),
            points=POINTS // 2,
            ends=(-9, 0),
        )


def _checked(place: Place) -> None:
    """A check that went well."""
    for source in _finished().iterdir():
        target = place.project / source.name
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target)
    place.keep()


@once
def _keeper() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="fault-finished-")


@once
def _finished() -> Path:
    """The project of a check that went well, with three recordings; made once."""
    place = Place(Path(_keeper().name, "place"))
    place.check()
    for name, rank in (("one", "0"), ("two", "1"), ("three", "0")):
        place.run(
            *("record", "--no-explain", "--output", name, "train.py"), RANK=rank, WORLD_SIZE="2"
        )
        (folder,) = (
            path
            for path in (place.project / name).iterdir()
            if path.name != "latest" and path.is_dir()
        )
        for path in folder.iterdir():
            path.rename(place.project / name / path.name)
    return place.project


def _cut(file: Path, point: int) -> None:
    """Only a part of a file is left."""
    content = file.read_bytes()
    file.write_bytes(content[: point * len(content) // POINTS])


def trace_cut(root: Path, point: int) -> Seen:
    """Of run 2; what stands before the cut is read."""
    place = Place(root)
    _checked(place)
    run = f"{LATEST}/run-2/trace"
    (trace,) = (place.project / run).glob("*.jsonl")
    lines = trace.read_bytes().splitlines(keepends=True)
    cut = point * len(lines) // POINTS
    trace.write_bytes(b"".join(lines[:cut]) + lines[cut][: len(lines[cut]) // 2])
    return looked_at(place, place.run("report", LATEST))


def record_cut(root: Path, point: int) -> Seen:
    """As a copy that broke off leaves it."""
    place = Place(root)
    _checked(place)
    _cut(place.project / LATEST / "record.json", point)
    return looked_at(place, place.run("report", LATEST))


def interrupted(writing: Writing, root: Path, point: int) -> Seen:
    """The old file is there, or the new one, and nothing else."""
    place = Place(root)
    _checked(place)
    place.write(writing.file, OLD)
    place.keep()
    whole = _written(writing)
    at = 1 + 2 * point * len(_events(writing)) // POINTS
    asked = Asked(who="-m reprocheck", at=at, act="signal", argument=9)
    command = place.run(*writing.words, writing.file, **asked.variables)
    file = place.project / writing.file
    content = file.read_bytes() if file.exists() else b""
    if content != OLD and len(content) >= len(whole) // 2:
        place.users[writing.file] = content
    return looked_at(place, command)


@once
def _written(writing: Writing) -> bytes:
    """The file as the command writes it where nothing disturbs it."""
    return _undisturbed(writing)[0]


@once
def _events(writing: Writing) -> tuple[str, ...]:
    """The events of the command."""
    return _undisturbed(writing)[1]


@once
def _undisturbed(writing: Writing) -> tuple[bytes, tuple[str, ...]]:
    with TemporaryDirectory() as folder:
        place = Place(Path(folder, "place"))
        _checked(place)
        noted = Path(folder, "events")
        asked = Asked(who="-m reprocheck", at=0, act="note", argument=str(noted))
        done = place.run(*writing.words, writing.file, **asked.variables)
        file = place.project / writing.file
        if not file.exists():
            raise RuntimeError(f"{writing.name}: {done.stderr}")
        return file.read_bytes(), tuple(noted.read_text().splitlines())
