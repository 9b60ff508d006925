"""No file of a recording leads out of its folder, whatever it says and whatever lies in its place:
links, pipes, devices, names of other places.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reprocheck.cli import main
from reprocheck.ladder.sources import Sources
from reprocheck.recording import bundle, record
from reprocheck.workflow import replay
from reprocheck.workflow.merge import merge
from tests.recording.recordings import process, recording, training

LOSSES = process(0, 1, training([0.5, 0.25, 0.125]))
PRIVATE = "what nobody else may read"
TRACE = "run-1/trace"
Damage = Callable[[Path, Path], None]
"""Damages the report folder; the second folder lies beside it, and holds what is private."""


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A recording; beside it lies `private`, a folder with the same files and other content."""
    folder = recording(tmp_path / "run", {"1-1": LOSSES}, stdout="epoch 1\n")
    private = recording(
        tmp_path / "private", {"1-1": process(0, 1, training([7.5] * 3))}, stdout=f"{PRIVATE}\n"
    )
    (private / "sources.json").write_text(json.dumps({"files": {"train.py": PRIVATE}}))
    (private / "arms").mkdir()
    (private / "arms/fix.patch").write_text(PRIVATE)
    (private / TRACE / "1-1.losses").write_bytes(bytes(8))
    (private / "train.py").write_text(f"# {PRIVATE}\n")
    os.utime(private / "train.py", (0, 0))
    return folder


def linked(name: str) -> Damage:
    """A link to the private file or folder of the same name."""

    def damage(folder: Path, private: Path) -> None:
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.symlink_to(private / name)

    return damage


def pipe(name: str) -> Damage:
    """A pipe, which would be waited for for ever."""

    def damage(folder: Path, private: Path) -> None:
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        os.mkfifo(place)

    return damage


def device(name: str) -> Damage:
    """A link to a device that never ends."""

    def damage(folder: Path, private: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to("/dev/zero")

    return damage


def naming(change: Callable[[dict[str, Any], str], None]) -> Damage:
    """A record that names another place."""

    def damage(folder: Path, private: Path) -> None:
        plain = json.loads((folder / "record.json").read_text())
        change(plain, str(private / "run-1/trace"))
        (folder / "record.json").write_text(json.dumps(plain))

    return damage


def a_run(plain: dict[str, Any], place: str) -> None:
    plain["runs"][0]["trace"] = place


def a_log(plain: dict[str, Any], place: str) -> None:
    plain["runs"][0]["stdout"] = "../private/run-1/stdout.log"


def an_arm(plain: dict[str, Any], place: str) -> None:
    runs = [{**plain["runs"][0], "trace": "arms/../../private/run-1/trace"}]
    plain["arms"] = [{"name": "a", "controls": [], "runs": runs}]


def a_side(plain: dict[str, Any], place: str) -> None:
    side = {key: plain[key] for key in ("entry_point", "started", "reprocheck_version")}
    runs = [plain["runs"][0], {**plain["runs"][0], "trace": place}]
    plain["compared"] = [{**side, "name": "a", "runs": runs}, {**side, "name": "b", "runs": runs}]


REFUSED: Mapping[str, Damage] = {
    "a link as record": linked("record.json"),
    "a pipe as record": pipe("record.json"),
    "a device as record": device("record.json"),
    "a link as folder of a run": linked("run-1"),
    "a link as folder of traces": linked(TRACE),
    "a record that names the traces of another": naming(a_run),
    "a record that names the log of another": naming(a_log),
    "an arm that names the traces of another": naming(an_arm),
    "a side that names the traces of another": naming(a_side),
}
LEFT_OUT: Mapping[str, Damage] = {
    "a link as trace": linked(f"{TRACE}/1-1.jsonl"),
    "a link as losses": linked(f"{TRACE}/1-1.losses"),
    "a pipe as losses": pipe(f"{TRACE}/1-1.losses"),
    "a device as settings": device(f"{TRACE}/recorder.json"),
    "a link as log": linked("run-1/stdout.log"),
    "a pipe as log": pipe("run-1/stderr.log"),
    "a link as sources": linked("sources.json"),
    "a pipe as sources": pipe("sources.json"),
    "a device as sources": device("sources.json"),
    "a link as patch": linked("arms/fix.patch"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_leads_elsewhere_is_refused(
    name: str, stranger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    REFUSED[name](stranger, stranger.with_name("private"))
    assert main(["report", str(stranger), "--format", "json", "-o", "-"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "Do not use it" in said.err


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_leads_elsewhere_is_left_out(
    name: str, stranger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    LEFT_OUT[name](stranger, stranger.with_name("private"))
    assert main(["report", str(stranger), "--format", "json", "-o", "-"]) == 0
    assert main(["report", str(stranger), "--format", "md", "-o", "-"]) == 0
    said = capsys.readouterr().out
    assert '"verdict"' in said
    assert PRIVATE not in said and "7.5" not in said


def test_a_report_that_is_drawn_again_reads_no_file_of_the_user(stranger: Path) -> None:
    script = stranger.with_name("private") / "train.py"
    check = replay.load(stranger)
    assert Sources(check, stranger).text(str(script)) is None
    while_it_is_made = replace(check, closed=False)
    assert Sources(while_it_is_made, stranger).text(str(script)) == f"# {PRIVATE}\n"


def test_a_link_is_neither_packed_nor_merged(stranger: Path, tmp_path: Path) -> None:
    private = stranger.with_name("private")
    nodes = [
        recording(tmp_path / f"node{rank}", {"1-1": process(rank, 2, training([0.5]))})
        for rank in (0, 1)
    ]
    for folder in (stranger, *nodes):
        linked("run-1/stdout.log")(folder, private)
    (private / "report.md").write_text(PRIVATE)
    (stranger / "report.md").symlink_to(private / "report.md")
    bundle.pack_all(stranger, tmp_path / "run.zip", ["report.md"])
    merge(nodes, tmp_path / "merged.zip")
    for name in ("run.zip", "merged.zip"):
        with bundle.opened(tmp_path / name) as folder:
            texts = [path.read_text() for path in folder.rglob("*.*") if path.is_file()]
        assert texts and not any(PRIVATE in text for text in texts)


def test_a_record_of_two_sides_is_read(stranger: Path) -> None:
    """What a comparison writes itself is in its place."""
    naming(lambda plain, _: a_side(plain, "side-1/run-2/trace"))(stranger, stranger)
    assert len(record.read(stranger).compared) == 2
