"""Output that the user sends into the working directory is neither put back nor taken for a file of
the script.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reprocheck.launch.workdir import snapshot
from reprocheck.launch.workdir.tree import read_tree
from reprocheck.launch.workdir.writers import open_for_writing
from reprocheck.model import FilesAfter
from reprocheck.recording import record
from tests.launch.conftest import Place, driver, restored, wait_until

MESS = """
    from pathlib import Path
    Path("data.txt").write_text("run")
    with open("made.txt", "a") as file: file.write("x")
"""


def talking(place: Place, text: str) -> str:
    """A shell command that checks a script with this text and prints before and after."""
    *python, code = driver(place.script(text))
    code = code.replace("launch.check(", 'print("before", flush=True); launch.check(').replace(
        "launch.Quiet())", 'Loud()); print("after", flush=True)'
    )
    loud = "class Loud(launch.Quiet):\n    def run_started(self, number, of): print('run', number, flush=True)\n"
    code = code.replace("entry = ", f"{loud}entry = ")
    return shlex.join([*python, code])


@pytest.mark.parametrize(
    "redirection", ["> log", ">> log", "| tee log", "2>&1 | tee -a log", "> logs/deep.txt"]
)
def test_redirected_output_is_left_alone(place: Place, redirection: str) -> None:
    (place.path / "data.txt").write_text("mine")
    (place.path / "logs").mkdir()
    log = place.path / redirection.split()[-1]
    log.write_text("old\n")
    command = f"{talking(place, MESS)} {redirection}; echo shell >> {log}"
    subprocess.run(command, shell=True, cwd=place.path, check=True)
    old = ["old"] if ">>" in redirection or "-a" in redirection else []
    assert log.read_text().split() == [*old, "before", "run", "1", "run", "2", "after", "shell"]
    assert (place.path / "data.txt").read_text() == "mine"
    runs = record.read(place.path / "reports" / "latest").runs
    assert [(run.files.created, run.files.changed) for run in runs] == [
        (("made.txt",), ("data.txt",)),
        ((), ("data.txt", "made.txt")),
    ]


def test_redirected_output_outlives_reprocheck_itself(place: Place) -> None:
    (place.path / "data.txt").write_text("mine")
    (place.path / "log").write_text("old\n")
    hangs = MESS + '    open("ready", "w").close()\n    import time; time.sleep(600)  # TOKEN\n'
    with (place.path / "log").open("a") as log:
        process = subprocess.Popen(
            f"exec {talking(place, hangs)}", shell=True, cwd=place.path, stdout=log
        )
    wait_until((place.path / "ready").exists)
    process.send_signal(signal.SIGKILL)
    process.wait(120)
    wait_until(lambda: (place.path / "data.txt").read_text() == "mine")
    wait_until(lambda: not list(place.path.glob("reports/train-*/snapshot")))
    assert (place.path / "log").read_text().split() == ["old", "before", "run", "1"]


def test_only_what_is_open_for_writing_is_found(tmp_path: Path) -> None:
    for name in ("read", "written", "closed"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("written")
    hold = "import sys; r = open('read'); w = open('written', 'a'); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert open_for_writing(tmp_path, ["read", "written", "closed", "link", "missing"]) == {
            "written"
        }
        process.communicate(b"")
    assert open_for_writing(tmp_path, ["written"]) == frozenset()


def test_a_file_that_the_user_has_open_is_put_back_once_it_is_closed(tmp_path: Path) -> None:
    root, store = tmp_path / "root", tmp_path / "store"
    root.mkdir()
    (root / "file").write_text("mine")
    snapshot.keep(root, read_tree(root), store)
    (root / "file").write_text("run")
    assert restored(store, "file").put_back == ("file",)
    assert (root / "file").read_text() == "mine"
    snapshot.keep(root, read_tree(root), store)
    with (root / "file").open("a") as file:
        file.write("more")
        file.flush()
        assert restored(store, "file") == FilesAfter()
    assert (root / "file").read_text() == "minemore"
