"""The machine around a check: clock, process ids, limits, the terminal, other checks."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.faults.kills import ALL_AT_ONCE, DRAWN, PLAIN
from benchmarks.faults.place import Ended, Place, ended, in_script, waited
from benchmarks.faults.seen import Fault, Seen, looked_at
from benchmarks.marked import state_of

LIBFAKETIME = "**/faketime/libfaketime.so.1"
STOP_OURS = """
from pathlib import Path
guard = os.getppid()
ours = int(Path(f"/proc/{guard}/stat").read_text().rpartition(")")[2].split()[1])
os.kill(ours, signal.SIGSTOP)
tell("stopped")
"""
TELLS = "tell('trains'); wait_for('on')"
ID_AGAIN = """
import os, subprocess, sys, time
from pathlib import Path

def next_id(number):
    Path("/proc/sys/kernel/ns_last_pid").write_text(str(number - 1))

first = subprocess.Popen(sys.argv[1:])
first.wait()
time.sleep(0)
next_id(first.pid)
other = subprocess.Popen(["sleep", "600"])
assert other.pid == first.pid, (other.pid, first.pid)
environment = {name: value for name, value in os.environ.items() if not name.startswith("FAULT_")}
again = subprocess.run(sys.argv[1:], env=environment)
assert other.poll() is None, "somebody else's process was ended"
other.kill()
other.wait()
sys.exit(again.returncode)
"""
"""In a namespace of process ids: the check is killed with its guard and its script, another process
gets its number, and the check is made again.
"""
OPEN_FILES = 24


def faults() -> Iterator[Fault]:
    """All of this group."""
    made: tuple[tuple[str, Callable[[Path, int], Seen | None], tuple[int, ...]], ...] = (
        ("the clock was set back by a day since the check before", clock_set_back, (0,)),
        ("another process has the number of a check that was killed", id_again, (0,)),
        (f"{OPEN_FILES} open files are allowed (`ulimit -n`)", few_files, (0, 2)),
        ("reprocheck has no memory left (`ulimit -v`)", no_memory, (0, 2, 70)),
        ("reprocheck is stopped (SIGSTOP) while run 1 ends, and goes on", ours_stopped, (0,)),
        ("all of it is stopped, and goes on (Ctrl-Z and `fg`)", all_stopped, (0,)),
        ("the terminal is closed", terminal_closed, (130, -1)),
        ("Ctrl-C is pressed five times", five_times, (130,)),
        ("nobody reads what is printed (`| head -1`)", not_read, (0,)),
        ("stdout and stderr are closed", closed, (0,)),
        ("what is printed goes to a full disk (`> /dev/full`)", printed_to_full, (2,)),
        ("two checks in one folder at once", two_at_once, (0,)),
        ("two checks in one folder at once, of which the first is killed", two_one_killed, (0,)),
    )
    for name, make, ends in made:
        yield Fault(group="The machine", name=name, make=make, ends=ends)


def clock_set_back(root: Path, _: int) -> Seen | None:
    """Between two checks; the older one has the later time."""
    library = next(Path("/usr/lib").glob(LIBFAKETIME), None)
    if library is None:
        return None
    place = Place(root)
    place.check()
    command = place.check("--keep", "5", LD_PRELOAD=str(library), FAKETIME="-1d")
    return looked_at(place, command, after=place.check())


def id_again(root: Path, _: int) -> Seen | None:
    """In a namespace of its own."""
    place = Place(root)
    script = root / "again.py"
    script.write_text(ID_AGAIN)
    shell = ("unshare", "--pid", "--fork", "--mount-proc", sys.executable, str(script))
    if subprocess.run([*shell[:4], "true"], capture_output=True).returncode:
        return None
    do = ALL_AT_ONCE.format(number=9)
    command = place.check(shell=shell, **in_script("run-1/", 10, do))
    return looked_at(place, command, after=place.check())


def few_files(root: Path, _: int) -> Seen:
    """Hardly more than a Python needs to start."""
    return _limited(root, f"ulimit -n {OPEN_FILES}")


def no_memory(root: Path, _: int) -> Seen:
    """Less than what its libraries map."""
    return _limited(root, "ulimit -v 150000")


def _limited(root: Path, limit: str) -> Seen:
    place = Place(root)
    command = place.run(*DRAWN, shell=("bash", "-c", f'{limit}; exec "$0" "$@"'))
    return looked_at(place, command, after=place.check())


def ours_stopped(root: Path, _: int) -> Seen:
    """The script goes on to its end meanwhile."""
    place = Place(root)
    process = place.begin(*PLAIN, **in_script("run-1/", 10, STOP_OURS))
    place.wait_until_told("stopped", process)
    waited(lambda: len(list(place.processes())) < 3 or process.poll() is not None)
    process.send_signal(signal.SIGCONT)
    return looked_at(place, ended(process), after=place.check())


def all_stopped(root: Path, _: int) -> Seen:
    """Every process that the check has then."""
    place = Place(root)
    process = place.begin(*PLAIN, **in_script("run-1/", 10, TELLS))
    place.wait_until_told("trains", process)
    every = list(place.processes())
    for number in every:
        os.kill(number, signal.SIGSTOP)
    waited(lambda: all(state_of(number) == "T" for number in every))
    place.tell("on")
    for number in reversed(every):
        os.kill(number, signal.SIGCONT)
    return looked_at(place, ended(process), after=place.check())


def terminal_closed(root: Path, _: int) -> Seen:
    """As when the window is closed or the connection breaks."""
    place = Place(root)
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(place.project)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup` in front of this command ignores it
        environment = place.environment({**in_script("run-1/", 10, TELLS), "TERM": "xterm"})
        os.execvpe(sys.executable, [sys.executable, "-m", "reprocheck", *PLAIN], environment)
    waited(lambda: (place.told / "trains").exists())
    printed = os.read(terminal, 65536).decode("utf-8", "replace")
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    place.tell("on")
    command = Ended(os.waitstatus_to_exitcode(status), printed, "")
    return looked_at(place, command, after=place.check())


def five_times(root: Path, _: int) -> Seen:
    """By somebody who is in a hurry."""
    place = Place(root)
    process = place.begin(*PLAIN, **in_script("run-1/", 10, TELLS))
    place.wait_until_told("trains", process)
    for _ in range(5):
        process.send_signal(signal.SIGINT)
    return looked_at(place, ended(process), after=place.check())


def not_read(root: Path, _: int) -> Seen:
    """What a shell says of the first command of a pipe."""
    return _printed(root, '"$0" "$@" 2>&1 | head -1; exit ${PIPESTATUS[0]}')


def closed(root: Path, _: int) -> Seen:
    """As some daemons start their commands."""
    return _printed(root, 'exec "$0" "$@" >&- 2>&-')


def printed_to_full(root: Path, _: int) -> Seen:
    """A log that cannot grow."""
    return _printed(root, 'exec "$0" "$@" > /dev/full 2>&1')


def _printed(root: Path, script: str) -> Seen:
    place = Place(root)
    command = place.check(shell=("bash", "-c", script))
    return looked_at(place, command, after=place.check())


def two_at_once(root: Path, _: int) -> Seen:
    """The second one begins while run 1 of the first one trains."""
    place = Place(root)
    first = place.begin(*PLAIN, **in_script("run-1/", 10, TELLS))
    place.wait_until_told("trains", first)
    return _beside(place, first, lambda: place.tell("on"))


def two_one_killed(root: Path, _: int) -> Seen:
    """The same, and the first one is killed then."""
    place = Place(root)
    first = place.begin(*PLAIN, **in_script("run-1/", 10, TELLS))
    place.wait_until_told("trains", first)
    return _beside(place, first, first.kill)


def _beside(place: Place, first: subprocess.Popen[str], then: Callable[[], object]) -> Seen:
    """A second check, once the first one trains. `then`: what becomes of the first one, as soon as
    the second one waits or trains.
    """
    second = place.begin(*PLAIN)
    waited(lambda: second.poll() is not None or _has_begun(place, second))
    then()
    ended(first)
    return looked_at(place, ended(second), after=place.check())


def _has_begun(place: Place, process: subprocess.Popen[str]) -> bool:
    """Whether a second check waits, or has written into the folder of reports."""
    return len(list(place.folders())) == 2
