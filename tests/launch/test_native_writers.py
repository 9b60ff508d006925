"""What a library writes without the interpreter is the runs' own: it is put back, and the next runs
do not find it.

The library is a small one that writes through the C library, under the names that TensorFlow has.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.launch import record_deeper
from reprocheck.launch.entry.entry_point import entry_point
from reprocheck.launch.workdir.file_events import read_events
from reprocheck.settings import Settings
from reprocheck.workflow import replay
from tests.launch.conftest import Place

FILE_IO = """
import ctypes
c = ctypes.CDLL(None)
def RecursivelyCreateDir(path): c.mkdir(path.encode(), 0o755)
def DeleteRecursively(path): c.unlink(path.encode() + b"/file"); c.rmdir(path.encode())
def RenameFile(old, new, overwrite): c.rename(old.encode(), new.encode())
"""
SAVER = """
from tensorflow.python.lib.io import _pywrap_file_io as io
class TrackableSaver:
    def save(self, file_prefix):
        for end in (".index", ".data-00000-of-00001"):
            number = io.c.creat((file_prefix + end).encode(), 0o644)
            io.c.write(number, b"one", 3)
            io.c.close(number)
"""
SCRIPT = """
import os, reprocheck
from tensorflow.python.checkpoint.checkpoint import TrackableSaver
from tensorflow.python.lib.io import _pywrap_file_io as io
resumed = os.path.exists("kept/last.index")
print("resumed" if resumed else "from the beginning")
for step in range(4):
    reprocheck.log_loss(1.0 / (step + 1 + resumed))
    if step == 1:
        io.RecursivelyCreateDir("kept")
        TrackableSaver().save("kept/one")
        for end in (".index", ".data-00000-of-00001"):
            io.RenameFile("kept/one" + end, "kept/last" + end, True)
        TrackableSaver().save("kept/two")
        io.DeleteRecursively("cleared")
        io.c.creat(b"held-open.log", 0o644)
"""


@pytest.fixture
def library(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library, outside of the working directory."""
    folder = place.path.parent / "library"
    for name, text in {"lib/io/_pywrap_file_io": FILE_IO, "checkpoint/checkpoint": SAVER}.items():
        path = folder / "tensorflow" / "python" / f"{name}.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (folder / "tensorflow" / "__init__.py").touch()  # else an installed one comes first
    monkeypatch.setenv("PYTHONPATH", str(folder))
    (place.path / "cleared").mkdir()
    (place.path / "cleared" / "file").write_text("mine")


def said(run: Path) -> str:
    return (run / "stdout.log").read_text().strip()


@pytest.mark.usefixtures("library")
def test_what_it_wrote_and_removed_is_known_as_written_by_the_runs(place: Place) -> None:
    place.check(SCRIPT)
    check = replay.judged(place.folder)
    files = check.record.runs[0].files
    assert {"kept/last.index", "kept/two.data-00000-of-00001", "held-open.log"} <= {*files.created}
    assert "cleared/file" in files.deleted
    assert files.unseen == ()
    assert check.verdict.verdict == "not_reproducible"


@pytest.mark.usefixtures("library")
def test_runs_recorded_again_do_not_find_what_it_wrote(place: Place) -> None:
    place.check(SCRIPT)
    assert [said(place.folder / f"run-{number}") for number in (1, 2)] == [
        "from the beginning",
        "resumed",
    ]
    record_deeper(
        entry_point(script="train.py"),
        Settings(),
        place.folder,
        place.heard,
        level="module",
        iterations=4,
    )
    deeper = [place.folder / "module" / f"run-{number}" for number in (1, 2)]
    assert [said(run) for run in deeper] == ["from the beginning", "resumed"]
    assert not [text for text in place.heard.messages if "by another program" in text]


@pytest.mark.usefixtures("library")
def test_a_file_whose_name_it_chose_is_new_where_nothing_stood(place: Place) -> None:
    (place.path.parent / "beside").mkdir()
    place.check(SCRIPT.replace('"kept/', '"../beside/').replace('"kept"', '"../beside"'))
    events = read_events((place.folder / "run-1").glob("trace/*.jsonl"))
    assert {Path(path).name for path in events.made} >= {"two.index", "two.data-00000-of-00001"}
