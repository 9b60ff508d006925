"""Each kind of process that a check or a night has, killed at points of its life.

A process of ours is killed at its own events: each file that it writes, moves or removes, each
process that it starts. A process of the training is killed before the loss of an iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory

from benchmarks.faults.place import CHECK, STEPS, Asked, Ended, Place, in_script, once
from benchmarks.faults.seen import Fault, Seen, looked_at
from reprocheck.suite.history import open_history
from reprocheck.suite.model import NO_REPORT
from reprocheck.suite.targets import load

PLAIN = (*CHECK, "train.py")
JOB = "-P -m reprocheck run"
"""How a night starts a check."""
POINTS = 20
"""Points of a kind of process."""
SIGNALS: Mapping[str, int] = {"SIGKILL": 9, "SIGTERM": 15, "SIGINT": 2, "SIGHUP": 1}
FOLLOWED = 5
"""At each so-many-th point the advice is followed: the check is made again."""
KILL_SELF = "os.kill(os.getpid(), {number})"
KILL_GUARD = "os.kill(os.getppid(), {number})"
ALL_AT_ONCE = """
import subprocess, time
from pathlib import Path
guard = os.getppid()
ours = int(Path(f"/proc/{{guard}}/stat").read_text().rpartition(")")[2].split()[1])
os.kill(ours, signal.SIGSTOP)
os.kill(guard, signal.SIGSTOP)
subprocess.run(["sh", "-c", f"kill -{number} {{guard}} {{ours}}"])
time.sleep(600)
"""
"""Stopped first, so that neither sees the other one die. The guard is killed before its parent,
whose death would continue it. The script dies with its guard, so another process kills both.
"""
FORKS = """\
import os
import sys
import reprocheck
from fault import at

child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)
for step in range(1, {steps} + 1):
    at(step)
    reprocheck.log_loss(1.0 / step)
"""
RANKS = """\
import os
import subprocess
import sys
import reprocheck
from fault import at

if "RANK" not in os.environ:
    ranks = []
    for rank in "01":
        os.environ.update(RANK=rank, WORLD_SIZE="2")
        ranks.append(subprocess.Popen([sys.executable, __file__]))
    first = ranks[1].wait()
    if first:
        ranks[0].terminate()
    sys.exit(bool(first or ranks[0].wait()))
for step in range(1, {steps} + 1):
    if os.environ["RANK"] == "1":
        at(step)
    reprocheck.log_loss(1.0 / step)
"""
"""With a launcher that ends the other rank where one has failed, as torchrun does."""
LOADER = """\
import torch
from torch.utils.data import DataLoader, Dataset
from fault import at


class Items(Dataset):
    def __len__(self):
        return {steps}

    def __getitem__(self, index):
        at(index + 1)
        return torch.full((4,), float(index))


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for batch in DataLoader(Items(), batch_size=1, num_workers=1):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of process.

    words    what stands behind `reprocheck`
    who      of a process of ours: the first words of its command line
    do       what the training executes where it is no process of ours
    inside   in which runs the training executes it, in turn
    signals  what it is killed by
    ends     the exit statuses that are right
    points   at how many points
    """

    name: str
    words: tuple[str, ...] = PLAIN
    who: str = ""
    do: str = ""
    inside: tuple[str, ...] = ("run-1/", "run-2/")
    training: str = "same"
    script: str = ""
    signals: tuple[str, ...] = tuple(SIGNALS)
    ends: tuple[int, ...] = ()
    points: int = POINTS

    def allowed(self, number: int) -> tuple[int, ...]:
        """The exit statuses that are right after a signal: its own where the command is killed."""
        is_killed = number == SIGKILL and (self.is_command or self.do == ALL_AT_ONCE)
        return (-SIGKILL,) if is_killed else self.ends

    @property
    def is_command(self) -> bool:
        """Whether it is the process that the user started."""
        return bool(self.who) and self.who != JOB


EXPLAIN = ("explain", "--steps", "all", "--no-draw", "train.py")
NIGHT = ("suite", "run", "--no-record")
RESUME = (*NIGHT, "--resume", "last")
DRAWN = ("run", "--steps", "all", "--no-explain", "train.py")
TARGET = """
[[target]]
name = "{name}"
run = "train.py {name}"
draw = false
steps = "all"
explain = false
"""
SUITE = '[suite]\nfolder = "reports/nightly"\n' + "".join(
    TARGET.format(name=name) for name in ("one", "two")
)
KINDS = (
    Kind(name="reprocheck run", words=DRAWN, who="-m reprocheck run", ends=(130, 0)),
    Kind(name="the guard of a run", do=KILL_GUARD, ends=(70, 4, 0)),
    Kind(name="reprocheck, guard and script at once", do=ALL_AT_ONCE, signals=("SIGKILL",)),
    Kind(name="the script", do=KILL_SELF, ends=(4,)),
    Kind(name="a forked child that trains", do=KILL_SELF, script=FORKS, ends=(4,)),
    Kind(name="a rank", do=KILL_SELF, script=RANKS, ends=(4,)),
    Kind(name="a worker of a DataLoader", do=KILL_SELF, script=LOADER, ends=(4,)),
    Kind(
        name="reprocheck explain",
        words=EXPLAIN,
        who="-m reprocheck explain",
        training="varies",
        ends=(130, 1),
    ),
    Kind(
        name="the script in an arm of explain",
        words=EXPLAIN,
        do=KILL_SELF,
        training="varies",
        inside=("arms/",),
        ends=(1,),
    ),
    Kind(name="reprocheck suite run", words=NIGHT, who="-m reprocheck suite", ends=(130, 0)),
    Kind(name="a check of a night", words=NIGHT, who=JOB, ends=(3, 0)),
)


def faults() -> Iterator[Fault]:
    """Every kind at points of its life, by its signals in turn."""
    for kind in KINDS:
        yield Fault(
            group="Killed",
            name=f"{kind.name}: {', '.join(kind.signals)}",
            make=partial(killed, kind),
            points=kind.points,
            ends=tuple({end for name in kind.signals for end in kind.allowed(SIGNALS[name])}),
        )


def killed(kind: Kind, root: Path, point: int) -> Seen:
    """One kind of process, killed at one of its points."""
    place = prepared(kind, root)
    number = SIGNALS[kind.signals[point % len(kind.signals)]]
    command = place.run(*kind.words, **_variables(kind, number, point))
    place.alive()
    if kind.words == NIGHT:
        return _after_night(place, command)
    after = None
    if point % FOLLOWED == 0:
        after = place.run(*kind.words)
    else:
        place.run("rules", "RC101")  # the user comes back to the folder
    return looked_at(place, command, after=after)


def _variables(kind: Kind, number: int, point: int) -> dict[str, str]:
    """What makes the process die at one of its points."""
    if kind.who:
        at = 1 + point * events(kind) // kind.points
        return Asked(who=kind.who, at=at, act="signal", argument=number).variables
    step = 1 + point * STEPS // kind.points
    inside = kind.inside[point // 4 % len(kind.inside)]
    return in_script(inside, step, kind.do.format(number=number))


def _after_night(place: Place, command: Ended) -> Seen:
    """A night goes on as its message says: each check is in the history once, and good unless it
    was the one that was killed.
    """
    place.run(*RESUME)
    with open_history(load(place.project).history) as history:
        begun = bool(history.nights())
    if not begun:
        place.run(*NIGHT)
    seen = looked_at(place, command)
    with open_history(load(place.project).history) as history:
        nights, checks = history.nights(), history.checks()
    counts = Counter(check.target for check in checks)
    wrong = list(seen.wrong)
    if len(nights) != 1 or counts != Counter(("one", "two")):
        wrong.append(f"{len(nights)} nights with {dict(counts)}")
    wrong += [
        f"{check.target}: {check.title}"
        for check in checks
        if check.verdict not in ("reproducible", NO_REPORT)
    ]
    good = f"{sum(check.good for check in checks)} of {len(checks)} checks good"
    return replace(seen, wrong=tuple(wrong), after=good)


def prepared(kind: Kind, root: Path) -> Place:
    """A place for a kind of process."""
    place = Place(root, training=kind.training, other_losses=kind.script == LOADER)
    if kind.script:
        place.write("train.py", kind.script.format(steps=STEPS))
    if kind.words == NIGHT:
        place.write("reprocheck.toml", SUITE)
    place.keep()
    return place


@once
def events(kind: Kind) -> int:
    """How many events the life of a process of ours has that nothing disturbs."""
    with TemporaryDirectory() as folder:
        place = prepared(kind, Path(folder, "place"))
        noted = Path(folder, "events")
        asked = Asked(who=kind.who, at=0, act="note", argument=str(noted))
        place.run(*kind.words, **asked.variables)
        place.alive()
        count = len(noted.read_text().splitlines())
        return count // 2 if kind.who == JOB else count  # a night of two checks
