"""What goes wrong in a check of a resume: interrupts, cut checkpoints, files that no snapshot
holds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reprocheck.cli import main

SCRIPT = """
import os, pickle, random, shutil, subprocess, sys, tempfile, threading
import reprocheck

how = set(sys.argv[1:])
random.seed(7)
state = {"w": 1.0, "step": 0}
where = "ckpt.pkl"
if "temporary" in how:
    where = os.path.join(tempfile.gettempdir(), where)
pointer = os.environ.get("POINTER", "")
stood = os.path.exists(where)
if stood:
    with open(where, "rb") as file:
        saved = pickle.load(file)
    random.setstate(saved.pop("rng"))
    state = saved
if pointer and os.path.exists(pointer):
    with open(pointer) as file:
        state["w"] += int(file.read())


def save(held):
    data = pickle.dumps(held)
    if "moved" in how:
        with tempfile.NamedTemporaryFile(suffix=".pkl", delete=False) as file:
            file.write(data)
        shutil.move(file.name, where)
        return
    with open(where, "wb") as file:
        file.write(data[:40])
        file.flush()
        if "slowly" in how and held["step"] > 3:
            cut.set()
            threading.Event().wait(20)
        file.write(data[40:])


def hang():
    open("hangs", "w").close()
    threading.Event().wait(600)


while state["step"] < 8:
    if "at rest" in how and state["step"] == 2:
        hang()
    if "resumed" in how and stood:
        hang()
    loss = (state["w"] - random.random()) ** 2
    reprocheck.log_loss(loss)
    state["w"] -= 0.1 * loss
    state["step"] += 1
    held = dict(state, rng=random.getstate())
    if "slowly" in how and state["step"] >= 3:
        cut = threading.Event()
        writer = threading.Thread(target=save, args=(held,), daemon=True)
        writer.start()
        if state["step"] == 3:
            writer.join()
        else:
            cut.wait()
    elif state["step"] == (8 if "last" in how else 3):
        save(held)
        if "snapshot" in how:
            subprocess.Popen(["sh", "-c", "exec 3>>ckpt.pkl; sleep 600"])
    if pointer:
        with open(pointer, "w") as file:
            file.write(str(state["step"]))
"""
FEW = ("resume", "--no-draw", "--go-on", "3")


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path


def _until(found: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not found():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


def _alive(word: str) -> list[str]:
    """Processes with a word in their environment or their command."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            said = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in said and process.name != str(os.getpid()):
            found.append(process.name)
    return found


@pytest.mark.parametrize("phase", ["at rest", "snapshot", "resumed"])
def test_an_interrupted_check_leaves_nothing_running_and_can_be_reported(
    phase: str, inside: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-m", "reprocheck", *FEW, "train.py", phase]
    process = subprocess.Popen(command, env={**os.environ, "MINE": str(inside)})
    _until(lambda: any(inside.glob("reports/*")))
    _until(lambda: bool(_hanging(inside, phase)))
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 130
    _until(lambda: not _alive(f"MINE={inside}"))
    assert {path.name for path in inside.iterdir()} == {"train.py", "reports"}
    left = {path.name for path in (inside / "reports" / "latest").iterdir()}
    assert {"record.json", "resume.json"} <= left
    assert not [name for name in left if name.startswith(("places", "workdir"))]
    assert main(["report", "reports/latest"]) == 0
    assert "INCONCLUSIVE" in capfd.readouterr().out


def _hanging(folder: Path, phase: str) -> list[Path]:
    if phase == "snapshot":
        return list(folder.glob("reports/*/run-1/trace/wanted-*"))
    return [path for path in _working(folder) if (path / "hangs").exists()]


def _working(folder: Path) -> list[Path]:
    """The working directories of the processes of a check."""
    found = []
    for pid in _alive(f"MINE={folder}"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found.append(Path(f"/proc/{pid}/cwd").readlink())
    return found


def _said(words: tuple[str, ...], capture: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main([*FEW, *words])
    said = capture.readouterr()
    return code, " ".join((said.out + said.err).split())


def test_a_checkpoint_where_temporary_files_go_is_named(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = _said(("train.py", "temporary"), capsys)
    assert code == 3 and "INCONCLUSIVE" in said
    assert "ckpt.pkl was written to the folder for temporary files (TMPDIR)" in said


def test_a_draft_that_is_moved_from_there_is_a_checkpoint(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = _said(("train.py", "moved"), capsys)
    assert code == 0 and "RESUMES EXACTLY" in said
    assert "checkpoint ckpt.pkl after update 3 (train.py:" in said
    code, said = _said(("train.py", "moved", "last"), capsys)
    assert code == 3 and "came to its end after 8 iterations, and wrote no checkpoint" in said


def test_what_is_read_beside_the_snapshot_makes_no_verdict(
    inside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pointer = inside.parent / f"{inside.name}-latest.txt"
    monkeypatch.setenv("POINTER", str(pointer))
    code, said = _said(("train.py",), capsys)
    assert code == 3 and "INCONCLUSIVE" in said
    assert f"{pointer.name}, outside of the working directory, as the continued run" in said


def test_the_advice_for_a_checkpoint_outside_works_beside_other_files(
    inside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = inside.parent / f"{inside.name}-outside"
    outside.mkdir()
    (outside / "mine.pkl").write_text("keep")
    script = inside / "train.py"
    script.write_text(SCRIPT.replace('where = "ckpt.pkl"', f"where = '{outside}/step-3.pkl'"))
    code, said = _said(("train.py",), capsys)
    pattern = f"{outside}/step-*"
    assert code == 2 and f"Allow it with --checkpoint '{pattern}'" in said
    code, said = _said(("--checkpoint", pattern, "train.py"), capsys)
    assert code == 0 and "RESUMES EXACTLY" in said
    assert {path.name for path in outside.iterdir()} == {"mine.pkl"}


def test_a_checkpoint_that_the_kill_cuts_is_a_script_that_failed(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = _said(("--at", "first", "--interrupt", "kill", "train.py", "slowly"), capsys)
    assert code == 4 and "SCRIPT FAILED" in said
    assert "It read ckpt.pkl, which may be cut by the signal" in said
    assert "os.replace" in said
