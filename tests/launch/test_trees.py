"""Nothing that a run started is alive after it, however it ends."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reprocheck.errors import ReprocheckError
from reprocheck.launch.run import process
from reprocheck.recording import record
from tests.launch.conftest import Place, driver, wait_until

STUBBORN_GRANDCHILD = """
    import subprocess, sys
    grandchild = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15, 1)]; print('up', flush=True); time.sleep(600)"
    child = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {grandchild!r}, 'TOKEN']); time.sleep(600)"
    process = subprocess.Popen([sys.executable, '-c', child, 'TOKEN'], stdout=subprocess.PIPE)
    process.stdout.readline()
"""
DAEMON = """
    import os, sys, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", "TOKEN"])
        os._exit(0)
    os.wait()
"""
FORKS_ON = """
    import os, sys, time
    if os.fork() == 0:
        os.setsid()
        sys.stdout = None
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
    else:
        time.sleep(0.1)
"""
HANGS = """
    import os, signal, subprocess, sys, time
    open("data.txt", "w").write("changed")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "TOKEN"], start_new_session=True)
    open("ready", "w").close()
    while True:
        try:
            time.sleep(600)
        except KeyboardInterrupt:
            pass
"""
WAITS = """
    import subprocess, sys, time
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "TOKEN"])
    open("ready", "w").close()
    time.sleep(600)
"""


@pytest.mark.parametrize("text", [STUBBORN_GRANDCHILD, DAEMON])
def test_children_left_behind_are_killed_and_counted(place: Place, text: str) -> None:
    record = place.check(text)
    assert [run.ended for run in record.runs] == ["completed", "completed"]
    assert [run.exit_status for run in record.runs] == [0, 0]
    assert all(run.killed >= 1 for run in record.runs)
    assert place.alive() == []


def test_processes_that_keep_forking_do_not_escape(place: Place) -> None:
    place.script(FORKS_ON)
    record = place.check(FORKS_ON)
    assert [run.ended for run in record.runs] == ["completed", "completed"]
    command = str(place.path / "train.py")
    assert not [p for p in Path("/proc").glob("[0-9]*/cwd") if _points_to(p, place.path)], command


def _points_to(link: Path, folder: Path) -> bool:
    try:
        return link.readlink() == folder and "train.py" in (link.parent / "cmdline").read_text()
    except OSError:
        return False


@pytest.fixture
def late(place: Place, monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """On a loaded machine the script can come far before the process that started it runs again:
    here always, and what is in the list is done then.
    """
    then: list[Callable[[], None]] = []

    class Late(process.GuardedProcess):
        def __init__(self, *arguments: Any, **keys: Any) -> None:
            super().__init__(*arguments, **keys)
            wait_until((place.path / "ready").exists)
            for act in then:
                act()

    monkeypatch.setattr("reprocheck.launch.run.run.GuardedProcess", Late)
    return then


@pytest.mark.usefixtures("late")
def test_timeout_ends_a_command_that_ignores_signals(place: Place) -> None:
    record = place.check(HANGS, timeout=0.1, runs=1)
    assert [run.ended for run in record.runs] == ["timed_out"]
    assert record.runs[0].exit_status == -signal.SIGKILL
    assert place.alive() == []


def test_an_interrupt_before_the_run_is_followed_ends_it(
    place: Place, late: list[Callable[[], None]]
) -> None:
    late.append(lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        place.check(WAITS, runs=2)
    assert place.alive() == []
    assert [run.ended for run in record.read(place.folder).runs] == ["interrupted"]


def test_guards_of_runs_side_by_side_clean_up_one_after_the_other(place: Place) -> None:
    script = place.script("import time; print('begun', flush=True); time.sleep(600)  # TOKEN")
    command = driver(script, "runs=3, jobs=3, workdir='copy'")
    process = subprocess.Popen(command, cwd=place.path, stderr=subprocess.PIPE)
    logs = "reports/train-*/run-*/stdout.log"
    wait_until(lambda: [log.read_text() for log in place.path.glob(logs)] == ["begun\n"] * 3)
    process.send_signal(signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    assert said == b"", "no guard finds what another one has removed"
    assert place.alive() == []
    assert not list(place.path.glob("reports/train-*/workdir*"))
    assert not list(place.path.parent.glob("reprocheck-*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_alive_when_reprocheck_is_ended(place: Place, number: signal.Signals) -> None:
    (place.path / "data.txt").write_text("precious")
    script = place.script(HANGS)
    process = subprocess.Popen(driver(script), cwd=place.path)
    wait_until((place.path / "ready").exists)
    wait_until(lambda: bool(place.alive()))
    process.send_signal(number)
    status = process.wait(120)
    wait_until(lambda: place.alive() == [])
    wait_until(lambda: (place.path / "data.txt").read_text() == "precious")
    wait_until(lambda: not list(place.path.parent.glob("reprocheck-*")))
    if number == signal.SIGKILL:
        assert status == -signal.SIGKILL
        wait_until(lambda: not list(place.path.glob("reports/train-*/snapshot")))
        (kept,) = place.path.glob("reports/train-*/record.json")
        (after,) = json.loads(kept.read_text())["files_after"]
        assert after["put_back"] == ["data.txt"]
        return
    assert status == 130
    record = json.loads((place.path / "reports" / "latest" / "record.json").read_text())
    assert [run["ended"] for run in record["runs"]] == ["interrupted"]
    assert not (place.path / "reports" / "latest" / "snapshot").exists()


KILLS_ITS_GUARD_BESIDE_A_DAEMON = """
    import os, sys, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            daemon = "import time; open('up', 'w').close(); time.sleep(600)"
            os.execv(sys.executable, [sys.executable, "-c", daemon, "TOKEN"])
        os._exit(0)
    os.wait()
    while not os.path.exists("up"):
        time.sleep(0.01)
    os.kill(os.getppid(), 9)
    time.sleep(600)
"""


def test_where_the_guard_is_killed_nothing_is_left_alive(place: Place) -> None:
    with pytest.raises(ReprocheckError, match="guards the run was killed"):
        place.check(KILLS_ITS_GUARD_BESIDE_A_DAEMON)
    assert (place.path / "up").exists()
    assert place.alive() == []


def test_children_of_the_program_that_checks_are_left_alone_when_a_guard_is_killed(
    place: Place,
) -> None:
    own = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    with pytest.raises(ReprocheckError, match="guards the run was killed"):
        place.check("import os, time; os.kill(os.getppid(), 9); time.sleep(600)")
    assert own.poll() is None
    own.communicate(b"\n")
    assert own.returncode == 0
    assert not adopts_orphans()


def adopts_orphans() -> bool:
    held = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(held), 0, 0, 0)
    return bool(held.value)


STOPS_ITS_GUARD = "import os, signal, time; os.kill(os.getppid(), signal.SIGSTOP)\n"
STOPS_IT_AGAIN_AND_AGAIN = """
    import os, signal, sys, time
    guard = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while os.getppid() == guard:
        os.kill(guard, signal.SIGSTOP)
"""


def test_a_guard_that_the_script_stopped_goes_on(place: Place) -> None:
    record = place.check(STOPS_ITS_GUARD)
    assert [(run.ended, run.exit_status) for run in record.runs] == [("completed", 0)] * 2


def test_a_timeout_ends_a_run_whose_guard_is_stopped_for_good(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LONGEST_END", 0.5)
    record = place.check(STOPS_IT_AGAIN_AND_AGAIN, timeout=1.0, runs=1)
    assert [run.ended for run in record.runs] == ["timed_out"]
    assert place.alive() == []


SAYS_WHO_IT_IS = """
    import os, time
    with open("starting", "w") as file:
        file.write(f"{os.getpid()} {os.getppid()}")
    os.rename("starting", "ready")
    time.sleep(600)
"""


def state(pid: int) -> str:
    """The state of a process, one letter: T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_stopped_guard_ends_the_run_when_reprocheck_dies(place: Place) -> None:
    program = subprocess.Popen(driver(place.script(SAYS_WHO_IT_IS)), cwd=place.path)
    ready = place.path / "ready"
    wait_until(ready.exists)
    script, guard = map(int, ready.read_text().split())
    os.kill(program.pid, signal.SIGSTOP)  # it would continue the guard
    os.kill(guard, signal.SIGSTOP)
    wait_until(lambda: state(guard) == "T")
    program.kill()
    program.wait(120)
    wait_until(lambda: not Path(f"/proc/{script}").exists())
