"""What a training itself, or somebody beside it, can do."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.faults.kills import PLAIN
from benchmarks.faults.place import Place, ended, in_script, waited
from benchmarks.faults.seen import Fault, Seen, looked_at
from benchmarks.marked import state_of

DAEMONS = """
for number in range(10):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for asks in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(asks, signal.SIG_IGN)
            while True:
                signal.pause()
        os._exit(0)
"""
DEAF = """
for asks in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(asks, signal.SIG_IGN)
while True:
    signal.pause()
"""
NO_MEMORY = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
held = []
while True:
    held.append(bytearray(1 << 26))
"""
MANY_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (10_100, max(10_100, resource.getrlimit(7)[1])))
held = [os.open("data.txt", os.O_RDONLY) for _ in range(10_000)]
"""
NO_FILE_LEFT = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
held = []
try:
    while True:
        held.append(os.open("data.txt", os.O_RDONLY))
except OSError:
    pass
"""
LONG_LOG = """
line = b"x" * 1023 + b"\\n"
for _ in range(1 << 7):
    os.write(1, line * (1 << 10))
"""
OWN_FOLDER = """
import shutil
os.makedirs("own")
os.chdir("own")
shutil.rmtree(os.getcwd())
"""
ALL_OF_IT = """
import shutil
for name in os.listdir("."):
    shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)
"""
SHARED_MEMORY = """
with open("/dev/shm/filling", "wb") as file:
    try:
        while True:
            file.write(bytes(1 << 16))
    except OSError:
        pass
"""
SMALL_SHM = 'mount -t tmpfs -o size=1m none /dev/shm && exec "$0" "$@"'
NAN = "import reprocheck; reprocheck.log_loss(float('nan'))"
CRASH = "import ctypes; ctypes.string_at(0)"
GROUP = "os.killpg(os.getpgrp(), 9)"
NO_DESCRIPTORS = "os.closerange(3, 65536)"
OWN_TRACE = """
for name in os.listdir(PLACE):
    os.unlink(os.path.join(PLACE, name))
"""
STOP_SELF = "tell('stopped'); os.kill(os.getpid(), signal.SIGSTOP)"
SAVES = "tell('trains'); wait_for('saved')"
"""Waits until somebody has saved a file of the project."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Training:
    """What it executes at an iteration.

    inside  in which runs
    after   whether the next check is made without the fault
    """

    name: str
    do: str
    ends: tuple[int, ...]
    step: int = 10
    inside: str = "run-"
    options: tuple[str, ...] = ()
    shell: tuple[str, ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)


TRAININGS = (
    Training(name="the first loss is not a number", do=NAN, ends=(3,), step=1),
    Training(name="it has no memory left (`RLIMIT_AS`)", do=NO_MEMORY, ends=(4,)),
    Training(name="it crashes (a segmentation fault)", do=CRASH, ends=(4,)),
    Training(name="it kills its process group", do=GROUP, ends=(4,)),
    Training(
        name="it never ends, and is deaf to signals", do=DEAF, ends=(5,), options=("--timeout", "2")
    ),
    Training(name="it leaves ten daemons that are deaf to signals", do=DAEMONS, ends=(0,)),
    Training(name="it opens 10,000 files", do=MANY_FILES, ends=(0,)),
    Training(name="it opens files until no descriptor is left", do=NO_FILE_LEFT, ends=(0,)),
    Training(name="it closes all descriptors but three", do=NO_DESCRIPTORS, ends=(0,)),
    Training(name="it prints 128 MiB", do=LONG_LOG, ends=(0,), inside="run-1/"),
    Training(name="it removes the folder that it works in", do=OWN_FOLDER, ends=(0,)),
    Training(name="it removes its own trace", do=OWN_TRACE, ends=(0, 3), inside="run-2/"),
    Training(
        name="it fills /dev/shm",
        do=SHARED_MEMORY,
        ends=(0,),
        shell=("unshare", "--mount", "bash", "-c", SMALL_SHM),
    ),
    Training(
        name="it removes all files of the working directory, reports elsewhere",
        do=ALL_OF_IT,
        ends=(4,),
        options=("--output", "../elsewhere"),
    ),
)


def faults() -> Iterator[Fault]:
    """All of this group."""
    for training in TRAININGS:
        yield Fault(
            group="What a training does",
            name=training.name,
            make=partial(done, training),
            ends=training.ends,
        )
    beside = {
        "it stops itself (SIGSTOP), and goes on after a while": (stopped, (0,)),
        "somebody saves a file of the project while run 2 trains": (saved, (0,)),
    }
    for name, (make, ends) in beside.items():
        yield Fault(group="What a training does", name=name, make=make, ends=ends)


def done(training: Training, root: Path, _: int) -> Seen | None:
    """A training that does something, and then as it is without it."""
    if training.shell[:1] == ("unshare",) and os.geteuid():
        return None
    place = Place(root, other_losses=training.do == NAN)
    variables = in_script(training.inside, training.step, training.do)
    command = place.check(*training.options, shell=training.shell, **variables)
    return looked_at(place, command, after=place.check())


def stopped(root: Path, _: int) -> Seen:
    """The training is stopped, and continued once that is so."""
    place = Place(root)
    process = place.begin(*PLAIN, **in_script("run-2/", 10, STOP_SELF))
    place.wait_until_told("stopped", process)
    waited(lambda: process.poll() is not None or bool(_stopped(place)))
    for number in _stopped(place):
        os.kill(number, signal.SIGCONT)
    return looked_at(place, ended(process), after=place.check())


def _stopped(place: Place) -> list[int]:
    return [number for number in place.processes() if state_of(number) == "T"]


def saved(root: Path, _: int) -> Seen:
    """A user edits a file that the runs overwrite; the edit is the last word."""
    place = Place(root)
    process = place.begin(*PLAIN, **in_script("run-2/", 10, SAVES))
    place.wait_until_told("trains", process)
    place.write("notes/plan.md", b"# Plan\n\nA line that was written meanwhile.\n")
    place.users["notes/plan.md"] = (place.project / "notes" / "plan.md").read_bytes()
    place.tell("saved")
    return looked_at(place, ended(process), after=place.check())
