"""Nights that were never run, through the commands of a suite: what each night tells, against what
happened. Checks and recordings come from memory; all that is behind them is what users have.

Each story is a suite of some targets in a folder of its own, whose nights have one shape: on one
machine, in shards, two at once and so on. Things happen to the targets: a change of the code moves
a curve, breaks a training, or is taken back; a check fails by chance; targets come and go;
packages change. Each is to be told in its first night, at its target, and nothing else.
"""

from __future__ import annotations

import io
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.table import Row
from reprocheck.cli import main
from reprocheck.suite import site
from reprocheck.suite.baselines import accept
from reprocheck.suite.baselines.operation import Operation
from reprocheck.suite.curves import pack
from reprocheck.suite.execution import Job, Performed
from reprocheck.suite.history import open_history
from reprocheck.suite.model import Key, Resources, TargetCheck, TargetState
from reprocheck.suite.night import deeper
from reprocheck.suite.targets import load
from tests.suite.baselines.curves import curve

DAY = 86400.0
FIRST = 1_790_000_000.0
FLAKY, UNGUARDED = "flaky", "unguarded"
"""A target that fails now and then, and one whose curves nobody accepts."""
NAMES = ("a", "b", "c", "d", "e", FLAKY, UNGUARDED)
FEWEST = 5
"""Targets that a suite has at least."""
Told = tuple[str, str]
"""A target, and the state that it was told to be in."""


@dataclass
class Life:
    """What is true of a target.

    version   of its code, which decides its curve
    accepted  the version of its baseline; None: it has none
    broken    whether its check fails
    flaked    whether its first attempt fails in this night
    was_broken  whether it was ever broken
    good      the commit of the last night in which it was good
    """

    version: int = 0
    accepted: int | None = None
    broken: bool = False
    flaked: bool = False
    was_broken: bool = False
    good: str = ""

    @property
    def drifts(self) -> bool:
        return self.accepted is not None and self.version != self.accepted

    @property
    def calm(self) -> bool:
        return not (self.drifts or self.broken or self.flaked)


@dataclass
class World:
    """A suite in a folder, and what is true of it.

    torch, numpy  versions of a package that is in the key, and of one that is beside it
    sent          what notices told in this night
    meanwhile     what happens while the next night is under way
    lost          targets whose next check is lost with its node
    """

    folder: Path
    seed: int
    history: str = ""
    lives: dict[str, Life] = field(default_factory=lambda: {name: Life() for name in NAMES})
    night: int = 0
    clock: float = FIRST
    torch: int = 0
    numpy: int = 0
    sent: list[Told] = field(default_factory=list)
    meanwhile: Callable[[], None] | None = None
    lost: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        (self.folder / "train.py").write_text("")
        self.write()

    def write(self) -> None:
        """The settings file, as the targets are now."""
        url = f'history = "{self.history}"\n' if self.history else ""
        tables = (f'[[target]]\nname = "{name}"\nrun = "train.py"\n' for name in self.lives)
        text = f'[suite]\nwebhooks = "http://localhost:1"\n{url}{"".join(tables)}'
        (self.folder / "reprocheck.toml").write_text(text)

    @property
    def commit(self) -> str:
        return f"{self.night:040x}"

    def says(self, *words: str) -> tuple[int, str]:
        """The exit code of a command of the suite, and what it prints."""
        self.clock += 60
        text = io.StringIO()
        with redirect_stdout(text), redirect_stderr(text):
            code = main(["suite", *words])
        return code, text.getvalue()

    def check(self, performed: Performed) -> TargetCheck:
        """What a check came to."""
        job = performed.job
        life = self.lives[job.target.name]
        good = not life.broken and not (life.flaked and job.attempt == 1)
        moved = life.version * 2.0**-20 + self.torch * 2.0**-22
        return TargetCheck(
            night=job.night,
            target=job.target.name,
            attempt=job.attempt,
            started=self.clock,
            seconds=10.0 * len(job.target.name),
            verdict="reproducible" if good else "not_reproducible",
            failed_check="" if good else "backward",
            exit_code=0 if good else 1,
            good=good,
            bitwise=good,
            key=Key(facts={"torch": f"2.{self.torch}"}),
            beside={"package.numpy": f"2.{self.numpy}"},
            commit=self.commit,
            folder=job.place,
            curves=pack([curve([1.0, 0.75, 0.5 + moved, 0.375 + moved])]),
        )

    def compared(self, kept: Path, now: Path, folder: Path, *, names: tuple[str, str]) -> Operation:
        """What the comparison of two recordings finds."""
        report = folder / f"train-compared-{names[1][-4:]}"
        report.mkdir()
        then, code = kept.read_text(), now.read_text()
        said = f"From version {then} to {code}."
        if then == code:
            return Operation(sentence=said, report=report)
        return Operation(sentence=said, report=report, source="train.py:1", diff="-old\n+new")

    def posted(self, _url: str, body: bytes, _timeout: float) -> None:
        """Takes a notice."""
        self.sent += [(one["target"], one["state"]) for one in json.loads(body)["changes"]]


@dataclass
class Memory:
    """An executor whose jobs have ended once they are waited for."""

    world: World
    name: str
    waiting: list[Job] = field(default_factory=list)

    @property
    def busy(self) -> bool:
        return bool(self.waiting)

    def impossible(self, resources: Resources) -> str:
        return ""

    def start(self, job: Job) -> str:
        self.waiting.append(job)
        return ""

    def wait(self, seconds: float) -> list[Performed]:
        job = self.waiting.pop(0)
        meanwhile, self.world.meanwhile = self.world.meanwhile, None
        if meanwhile:
            meanwhile()
        if job.target.name in self.world.lost:
            self.world.lost.remove(job.target.name)
            return [Performed(job=job, started=0.0, seconds=1.0, lost="Its node died.")]
        job.folder.mkdir(parents=True)
        if job.kind == "recording":
            job.recording.write_text(str(self.world.lives[job.target.name].version))
        return [Performed(job=job, started=self.world.clock, seconds=1.0, exit_status=0)]

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None: ...


@contextmanager
def living(world: World, *, draws: bool = False) -> Iterator[None]:
    """Within the block the suite sees this world. `draws`: pages and files are drawn each night."""
    index = world.folder / "nightly" / "site" / "index.html"
    drawn = site.Written(index=index, pages=0, written=0)
    patches: dict[str, Any] = {
        "reprocheck.suite.execution.local_executor.LocalExecutor": lambda _: Memory(world, "local"),
        "reprocheck.suite.execution.ray_cluster.RayExecutor": lambda _: Memory(world, "ray"),
        "reprocheck.suite.night.run.read": world.check,
        "reprocheck.suite.night.run.commit_of": lambda _: world.commit,
        "reprocheck.suite.night.deeper.between": world.compared,
        "reprocheck.suite.night.deeper.commits_of": lambda _, since: (f"since {since}",),
        "reprocheck.suite.pages.notices._post": world.posted,
        "time.time": lambda: world.clock,
    }
    if not draws:
        patches["reprocheck.suite.site.write"] = lambda *_: drawn
        patches["reprocheck.suite.pages.write"] = lambda *_: ()
        # half of the time of such a night, and there is nothing to be masked
        patches["reprocheck.suite.reports.redacted"] = lambda thing, _: thing
        patches["reprocheck.suite.changes.states.redacted"] = lambda thing, _: thing
    with ExitStack() as stack, chdir(world.folder):
        for name, instead in patches.items():
            stack.enter_context(mock.patch(name, instead))
        yield


# ------------------------------------------------------------------------------ shapes of a night

Shape = Callable[[World], tuple[int, Sequence[str]]]
"""Lives one night; its exit code, and the targets that its last command was about."""


def one_machine(world: World) -> tuple[int, Sequence[str]]:
    return world.says("run", "-q")[0], [*world.lives]


def retries(world: World) -> tuple[int, Sequence[str]]:
    return world.says("run", "-q", "--retries", "1")[0], [*world.lives]


def ray(world: World) -> tuple[int, Sequence[str]]:
    world.lost = set(world.draw.sample([*world.lives], 2))
    return world.says("run", "-q", "--executor", "ray")[0], [*world.lives]


def interrupted(world: World) -> tuple[int, Sequence[str]]:
    def stop() -> None:
        raise KeyboardInterrupt

    world.meanwhile = stop
    assert world.says("run", "-q")[0] == 130
    return world.says("run", "-q", "--resume", "last")[0], [*world.lives]


def shards(world: World) -> tuple[int, Sequence[str]]:
    """Shares in folders of their own, some nights merged one by one."""
    folders = [f"shards/{number}" for number in (1, 2, 3)]
    for number, folder in enumerate(folders, start=1):
        world.says("run", "-q", "--shard", f"{number}/3", "--folder", folder)
    assert not world.sent, "a shard knows no history"
    world.draw.shuffle(folders)
    if world.draw.random() < 0.3:
        code, _ = world.says("merge", folders[0])
        assert code in (1, 3), "a night without its shards is not good"
    return world.says("merge", *folders)[0], [*world.lives]


def slurm(world: World) -> tuple[int, Sequence[str]]:
    """An array of tasks with new folders each night, and a merge of all folders that there are."""
    for number in (1, 2):
        folder = f"shards/{world.night}-{number}"
        world.says("run", "-q", "--retries", "1", "--shard", f"{number}/2", "--folder", folder)
    return world.says("merge", *map(str, Path("shards").glob("*")))[0], [*world.lives]


def shared(world: World) -> tuple[int, Sequence[str]]:
    """Shares that write to one history."""
    for number in (1, 2):
        world.says("run", "-q", "--shard", f"{number}/2")
    return world.says("merge")[0], [*world.lives]


def two_at_once(world: World) -> tuple[int, Sequence[str]]:
    """Halves of the targets, one night beginning within the other."""
    names = [*world.lives]
    world.meanwhile = lambda: world.says("run", "-q", *names[::2]) and None
    return world.says("run", "-q", *names[1::2])[0], names[1::2]


def one_afterwards(world: World) -> tuple[int, Sequence[str]]:
    world.says("run", "-q")
    name = world.draw.choice([*world.lives])
    return world.says("run", "-q", name)[0], [name]


SHAPES: dict[str, Shape] = {
    "one machine": one_machine,
    "retries": retries,
    "Ray": ray,
    "interrupted": interrupted,
    "shards": shards,
    "Slurm": slurm,
    "shared history": shared,
    "two at once": two_at_once,
    "one afterwards": one_afterwards,
}
WITH_RETRIES = ("retries", "Slurm")

# ------------------------------------------------------------------------------ what happens


def mornings(world: World) -> set[Told]:
    """What people do before the next night: accept, repair, take back. What that night is to
    tell.
    """
    told = set()
    for name, life in world.lives.items():
        life.flaked = False
        if life.drifts and world.draw.random() < 0.4:
            accepted(world, name)
        elif life.drifts and world.draw.random() < 0.4:
            life.version = life.accepted or 0
            told.add((name, "fixed"))
        elif life.broken and world.draw.random() < 0.5:
            life.broken = False
            told.add((name, "fixed"))
        elif life.accepted is None and name != UNGUARDED and life.calm:
            accepted(world, name)
    return told


def accepted(world: World, *names: str) -> None:
    """The last curves of these targets become their baselines."""
    suite = load(world.folder)
    with open_history(suite.history) as history:
        checks = [history.checks(target=name, last=1, curves=True)[0] for name in names]
        for baseline in accept(history, checks, "It is meant.", "me"):
            deeper.adopt(suite, baseline)
    for name in names:
        world.lives[name].accepted = world.lives[name].version


def events(world: World, before: set[Told], *, flakes: bool) -> set[Told]:
    """What happens before a night to targets to which nothing happened in the morning; what it is
    to tell.
    """
    busy = {name for name, _ in before}
    draw = world.draw
    told: set[Told] = set()
    calm = [
        name
        for name, life in world.lives.items()
        if life.calm and life.accepted is not None and name not in busy | {FLAKY} and life.good
    ]
    draw.shuffle(calm)
    if calm and draw.random() < 0.6:
        name = calm.pop()
        world.lives[name].version += 1
        told.add((name, "drift"))
    if calm and draw.random() < 0.3 and not world.lives[calm[-1]].was_broken:
        name = calm.pop()
        world.lives[name].broken = world.lives[name].was_broken = True
        told.add((name, "new failure"))
    if calm and len(world.lives) > FEWEST and draw.random() < 0.3:
        name = calm.pop()
        del world.lives[name]
        told.add((name, "gone"))
    if draw.random() < 0.25:
        world.lives[f"new-{world.night}"] = Life()
    if draw.random() < 0.2:
        world.lives[UNGUARDED].version += 1
    if flakes and draw.random() < 0.2 and world.lives[FLAKY].calm:
        world.lives[FLAKY].flaked = True
    world.numpy += draw.random() < 0.2
    world.write()
    return told


def live(shape: str, seed: int, nights: int, folder: Path, history: str = "") -> list[str]:
    """The nights of a story; a sentence for each that tells another thing than what happened."""
    world = World(folder, seed, history)
    wrong = []
    with living(world):
        for number in range(nights):
            world.night, world.clock = number, FIRST + number * DAY
            to_tell = mornings(world) if number else set()
            calm = all(one.calm for one in world.lives.values())
            upgraded = number > 1 and calm and world.draw.random() < 0.15
            if upgraded:
                world.torch += 1
            elif number:
                to_tell |= events(world, to_tell, flakes=shape in WITH_RETRIES)
            world.sent.clear()
            code, last = SHAPES[shape](world)
            wrong += [
                f"{shape}, seed {seed}, night {number}: {said}"
                for said in _wrong(world, to_tell, code, last)
            ]
            for life in world.lives.values():
                if life.calm:
                    life.good = world.commit
            if upgraded:
                guarded = [name for name, life in world.lives.items() if life.accepted is not None]
                accepted(world, *guarded)
    return wrong


ANY = {(FLAKY, "intermittent"), (FLAKY, "fixed"), (UNGUARDED, "moved")}
"""What may be told in every night: of chance, and of what nobody guards."""


def _wrong(world: World, to_tell: set[Told], code: int, last: Sequence[str]) -> Iterator[str]:
    """Yield in what a night differs from the truth."""
    told = [one for one in world.sent if one not in ANY]
    if sorted(told) != sorted(to_tell):
        yield f"told {sorted(told)}, and there was {sorted(to_tell)}"
    failing = {
        name
        for name, life in world.lives.items()
        if life.drifts or life.broken or (life.flaked and name == FLAKY)
    }
    if code != bool(failing & set(last)):
        yield f"exit code {code}, and {sorted(failing)} fail"
    states = _states(world)
    failed = {name for name, state in states.items() if state.failed}
    if failed & set(last) != failing & set(last):
        yield f"{sorted(failed)} fail in the history, and {sorted(failing)} do"
    for name, word in to_tell:
        life = world.lives.get(name)
        if word == "drift" and life is not None and name in states:
            state = states[name]
            version = f"From version {life.accepted} to {life.version}."
            if state.operation != version or state.suspect.commits != (f"since {life.good}",):
                yield f"{name}: {state.operation} {state.suspect.commits}, not {version}"
            if not (world.folder / "nightly" / state.suspect.report).is_dir():
                yield f"{name}: no comparison at {state.suspect.report}"


def _states(world: World) -> dict[str, TargetState]:
    """The newest states of checked targets."""
    found: dict[str, TargetState] = {}
    with open_history(load(world.folder).history) as history:
        for night in history.nights(2):
            known = history.states(night=night.id)
            found |= {one.target: one for one in known if one.state not in ("not run", "gone")}
    return found


def simulated(shape: str, seeds: Sequence[int], nights: int) -> list[str]:
    """The stories of these seeds; a sentence for each night that told another thing."""
    wrong = []
    for seed in seeds:
        memory = Path("/dev/shm")
        place = memory if memory.is_dir() else None
        with tempfile.TemporaryDirectory(prefix="nights-", dir=place) as folder:
            wrong += live(shape, seed, nights, Path(folder).resolve())
    return wrong


def measure(_folder: Path) -> Iterator[Row]:
    """How many nights tell another thing than what happened."""
    seeds, nights = range(8), 15
    for shape in SHAPES:
        wrong = simulated(shape, seeds, nights)
        yield Row(
            what=f"nights that tell another thing than what happened, {shape}",
            value=len(wrong),
            allowed=0,
            unit="",
            how=f"{len(seeds) * nights} nights; {wrong[0] if wrong else 'none'}",
        )
