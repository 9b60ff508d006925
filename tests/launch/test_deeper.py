"""Two runs more at a deeper level begin where the first ones began, and leave no trace in the
user's folder.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from reprocheck import launch
from reprocheck.launch.run.further_runs import paths_created
from reprocheck.launch.workdir import cleanup, snapshot
from reprocheck.launch.workdir.tree import read_tree
from reprocheck.model import DeeperPair, FileChanges, RunRecord
from reprocheck.recording import record
from reprocheck.settings import Settings
from tests.launch.conftest import ROOT, Place, restored, wait_until
from tests.launch.test_workdir import facts

TRAINS = """
    import os, reprocheck
    from pathlib import Path
    print(sorted(str(path) for path in Path(".").rglob("*") if "reports" not in path.parts and "__pycache__" not in path.parts))
    print(Path("notes.txt").read_text(), os.environ.get("REPROCHECK_CHILD", "").split("reports")[-1].split("/", 2)[2])
    Path("notes.txt").write_text("run")
    Path("gone.txt").unlink(missing_ok=True)
    Path("out/deep").mkdir(parents=True, exist_ok=True)
    with open("out/deep/log.txt", "a") as file: file.write("epoch\\n")
    if not os.path.lexists("out/last"): os.symlink("deep/log.txt", "out/last")
    Path(f"checkpoint-{os.environ['REPROCHECK_CHILD'].count('module')}.bin").write_bytes(os.urandom(100_000))
    for step in range(20):
        reprocheck.log_loss(1.0 / (step + 1))
"""


def deeper(place: Place, *, iterations: int = 2, **settings: object) -> DeeperPair:
    entry = launch.entry_point(script="train.py")
    held = Settings(**settings)  # type: ignore[arg-type]
    return launch.record_deeper(
        entry,
        held,
        place.folder,
        place.heard,
        level="module",
        inside="net.0",
        iterations=iterations,
    )


def said(place: Place, run: str) -> list[str]:
    return (place.folder / run / "stdout.log").read_text().splitlines()


def fill(place: Place) -> None:
    (place.path / "notes.txt").write_text("mine")
    (place.path / "gone.txt").write_text("mine")
    (place.path / "empty").mkdir()


def test_the_pair_begins_where_the_first_one_began_and_leaves_what_that_left(place: Place) -> None:
    fill(place)
    first = place.check(TRAINS)
    left = facts(place.path)
    pair = deeper(place)
    assert facts(place.path) == left, (
        "content, modes, times and links are those that the first pair left"
    )
    assert (place.path / "out" / "deep" / "log.txt").read_text() == "epoch\nepoch\n"
    files = "['empty', 'gone.txt', 'notes.txt', 'train.py']"
    assert said(place, "run-1")[0] == said(place, "module/run-1")[0] == files
    assert said(place, "module/run-1")[1] == "mine module/run-1/trace"
    assert said(place, "module/run-2")[0] == said(place, "run-2")[0].replace(
        "checkpoint-0", "checkpoint-1"
    )
    assert said(place, "module/run-2")[1].startswith("run ")
    assert (place.folder / "module" / "left" / "checkpoint-1.bin").stat().st_size == 100_000, (
        "what only these runs made is not lost"
    )
    assert not (place.path / "checkpoint-1.bin").exists()
    assert any("checkpoint-1.bin" in text for text in place.heard.messages)
    assert not (place.folder / "snapshot").exists()

    assert (
        pair.runs[0].trace == "module/run-1/trace" and (place.folder / pair.runs[0].trace).is_dir()
    )
    assert [run.ended for run in pair.runs] == ["stopped", "stopped"]
    recorder = json.loads(
        (place.folder / "module" / "run-2" / "trace" / "recorder.json").read_text()
    )
    assert (recorder["level"], recorder["inside"], recorder["steps"]) == ("module", "net.0", 2)
    assert record.read(place.folder).deeper == (pair,)
    assert record.read(place.folder).runs == first.runs


def test_copies_are_copies_again(place: Place) -> None:
    fill(place)
    place.check(TRAINS, workdir="copy")
    before = facts(place.path)
    deeper(place, workdir="copy")
    assert facts(place.path) == before
    assert (
        said(place, "run-1")[0] == said(place, "module/run-1")[0] == said(place, "module/run-2")[0]
    )
    assert not (place.folder / "module" / "left").exists() and not list(
        place.folder.glob("workdir*")
    )


def test_the_timeout_holds_and_what_was_recorded_is_kept(place: Place) -> None:
    place.check(
        "import time, os; time.sleep(600 if 'module' in os.environ['REPROCHECK_CHILD'] else 0)"
    )
    pair = deeper(place, timeout=0.5)
    assert [run.ended for run in pair.runs] == ["timed_out", "timed_out"]


WAITS = """
    import os, time
    from pathlib import Path
    Path("notes.txt").write_text("run")
    Path("made.txt").open("a").write("run\\n")
    if "module/run-2" in os.environ["REPROCHECK_CHILD"]:
        Path("new.txt").touch()
        Path("reports/ready").touch()
        time.sleep(600)  # TOKEN
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_in_the_deeper_pair_costs_no_file(
    place: Place, number: signal.Signals
) -> None:
    (place.path / "notes.txt").write_text("mine")
    place.script(WAITS)
    code = f"""
        import sys; sys.path.insert(0, {str(ROOT)!r})
        from pathlib import Path
        from reprocheck import launch
        from reprocheck.settings import Settings
        entry, held, folder = launch.entry_point(script="train.py"), Settings(), launch.prepare(Path("reports"), "train")
        launch.check(entry, held, folder, launch.Quiet())
        try:
            launch.record_deeper(entry, held, folder, launch.Quiet(), level="module", iterations=2)
        except KeyboardInterrupt:
            sys.exit(130)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=place.path)
    wait_until((place.path / "reports" / "ready").exists)
    assert (place.path / "made.txt").read_text() == "run\nrun\n", (
        "run 2 adds to what run 1 of the same pair made"
    )
    process.send_signal(number)
    assert process.wait(120) == (130 if number == signal.SIGINT else -signal.SIGKILL)
    folder = (place.path / "reports" / "latest").resolve()
    wait_until(lambda: not (folder / "snapshot").exists())
    assert (place.path / "notes.txt").read_text() == "mine"
    assert (place.path / "made.txt").read_text() == "run\nrun\n", "that of the first pair"
    pair = record.read(folder).deeper[0]
    assert [run.ended for run in pair.runs] == (
        ["completed", "interrupted"] if number == signal.SIGINT else ["completed"]
    )
    if number == signal.SIGINT:
        assert (
            not (place.path / "new.txt").exists()
            and (folder / "module" / "left" / "new.txt").exists()
        )


def test_files_are_taken_aside_and_come_back_as_they_were(tmp_path: Path) -> None:
    root, store = tmp_path / "root", tmp_path / "store"
    (root / "made" / "deep").mkdir(parents=True)
    (root / "made" / "deep" / "large").write_bytes(b"l" * 200_000)
    (root / "made" / "link").symlink_to("deep/large")
    (root / "mine").write_text("mine")
    before = facts(root)
    inode = (root / "made" / "deep" / "large").stat().st_ino
    created = ("made", "made/deep", "made/deep/large", "made/link")
    assert snapshot.keep(root, read_tree(root), store, limit=10, aside=created) == snapshot.Unkept()
    assert facts(root) == before, "nothing is moved before the index is written"
    assert snapshot.move_aside(store, created) == ()
    assert [path.name for path in root.iterdir()] == ["mine"]
    (root / "made" / "deep").mkdir(parents=True)
    (root / "made" / "deep" / "large").write_bytes(b"another")
    (root / "mine").write_text("run")
    assert restored(store, *created, "mine").lost == ()
    assert facts(root) == before
    assert (root / "made" / "deep" / "large").stat().st_ino == inode, "moved, not copied"
    assert not store.exists()


def test_a_move_to_another_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system")
    source, target = tmp_path / "file", shared / f"reprocheck-test-{os.getpid()}"
    source.write_bytes(b"x" * 10)
    try:
        snapshot.move(source, target)
        assert target.read_bytes() == b"x" * 10 and not source.exists()
        snapshot.move(target, source)
        assert source.read_bytes() == b"x" * 10 and not target.exists()
    finally:
        target.unlink(missing_ok=True)


def test_a_pair_that_was_killed_is_put_back_by_hand(place: Place) -> None:
    (place.path / "made").write_text("first pair")
    folder = place.path / "reports" / "train-20200101-000000"
    snapshot.keep(
        place.path,
        read_tree(place.path, [place.path / "reports"]),
        folder / "snapshot",
        aside=("made",),
    )
    snapshot.move_aside(folder / "snapshot", ("made",))
    assert not (place.path / "made").exists()
    log = folder / "module" / "run-1"
    log.mkdir(parents=True)
    (log / "stdout.log").write_text("https://me:secret@example.org/\n")
    assert cleanup.clean_up(folder).put_back == ("made",)
    assert (place.path / "made").read_text() == "first pair"
    assert "secret" not in (log / "stdout.log").read_text()
    shutil.rmtree(folder)


def run_record(**files: tuple[str, ...]) -> RunRecord:
    return RunRecord(
        number=1,
        ended="completed",
        exit_status=0,
        started="",
        seconds=1.0,
        trace="",
        stdout="",
        stderr="",
        files=FileChanges(**files),
    )


def test_what_was_there_before_is_not_taken_for_created() -> None:
    runs = (
        run_record(created=("log", "old/new"), deleted=("data", "old/file"), folders=("out",)),
        run_record(created=("data",), changed=("log",), folders=("old",)),
    )
    assert paths_created(runs) == ("log", "old/new", "out")
    assert paths_created(()) == ()
