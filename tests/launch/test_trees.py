"""Nothing that a run started is alive after it, however it ends."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

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
        end = time.monotonic() + 60
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


def test_timeout_ends_a_command_that_ignores_signals(place: Place) -> None:
    record = place.check(HANGS, timeout=1.0, runs=2)
    assert [run.ended for run in record.runs] == ["timed_out", "timed_out"]
    assert record.runs[0].exit_status == -signal.SIGKILL
    assert place.alive() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_alive_when_reprocheck_is_ended(place: Place, number: signal.Signals) -> None:
    (place.path / "data.txt").write_text("precious")
    script = place.script(HANGS)
    process = subprocess.Popen(driver(script), cwd=place.path)
    wait_until((place.path / "ready").exists)
    wait_until(lambda: bool(place.alive()))
    process.send_signal(number)
    status = process.wait(30)
    wait_until(lambda: place.alive() == [])
    wait_until(lambda: (place.path / "data.txt").read_text() == "precious")
    wait_until(lambda: not list(place.path.parent.glob("reprocheck-*")))
    if number == signal.SIGKILL:
        assert status == -signal.SIGKILL
        wait_until(lambda: not list(place.path.glob("reports/train-*/snapshot")))
        return
    assert status == 130
    record = json.loads((place.path / "reports" / "latest" / "record.json").read_text())
    assert [run["ended"] for run in record["runs"]] == ["interrupted"]
    assert not (place.path / "reports" / "latest" / "snapshot").exists()


def test_killed_guard_is_noticed(place: Place) -> None:
    from reprocheck.errors import ReprocheckError

    with pytest.raises(ReprocheckError, match="guards the run was killed"):
        place.check("import os, time; os.kill(os.getppid(), 9); time.sleep(600) # TOKEN")
