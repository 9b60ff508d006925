"""Nights made by hand: one of each state, hostile names, a thousand that fail; a history."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from reprocheck.model import LossSeries, Series
from reprocheck.suite.curves import pack
from reprocheck.suite.history import History
from reprocheck.suite.model import (
    Baseline,
    Difference,
    Key,
    KnownIssue,
    Night,
    NightReport,
    RankSeries,
    State,
    Suspect,
    TargetCheck,
    TargetReport,
    TargetState,
)
from reprocheck.suite.reports import ordered, shown
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite, folder_name
from tests.report.parts import HOSTILE

DAY = 86_400.0
FIRST = 1_795_399_200.0
"""2026-11-23 02:00 UTC."""
KEY = Key(facts={"torch": "2.13.0", "device": "Example CPU", "ranks": "1", "threads": "2"})
LATER_KEY = Key(facts={**KEY.facts, "torch": "2.14.0"})
WORKDIR = Path("/data/nightly/examples")
KNOWN = KnownIssue(why="PyTorch 1234", until="2026-12-31", link="https://example.org/1234")
DRIFT = Difference(
    series="loss", first_bit=3, step=3.0, ulp=1, relative=1.2e-7, value=0.50000006, other=0.5
)


SUSPECT = Suspect(
    source="model/loss.py:4",
    diff=" def loss_of(x):\n-    return x * 0.1\n+    return x * 0.15",
    commits=("4cc649203e93 Smoother labels",),
)


def night_id(number: int) -> str:
    return f"2026-{11 + number // 30:02}-{1 + number % 30:02}T02-00-00Z-{number:04x}"


def night(number: int, names: Iterable[str], **other: object) -> Night:
    began = FIRST + number * DAY
    made = Night(
        id=night_id(number),
        started=began,
        ended=began + 1800,
        targets=tuple(names),
        selected=tuple(names),
        commit=f"{0x5F2C9E10AB12 + number:012x}",
        reprocheck_version="0.9.0",
    )
    return replace(made, **other)  # type: ignore[arg-type]


def target(name: str, *tags: str) -> Target:
    return Target(
        name=name,
        words=(f"{name}.py", "--lr", "0.1"),
        workdir=WORKDIR,
        tags=tags,
        file=WORKDIR / "reprocheck.toml",
    )


def settings(name: str) -> Target:
    """A target of `one_of_each` as its settings file has it."""
    if name == "known-issue":
        return replace(target(name, "fast"), owner="@ada", known_issue=KNOWN)
    return target(name, "fast")


def curve(values: Iterable[float], name: str = "loss") -> RankSeries:
    numbers = array("d", values)
    count = len(numbers)
    losses = LossSeries(
        values=numbers,
        dtype_of=array("B", bytes(count)),
        dtypes=("float32",),
        ends=array("q", range(1, count + 1)),
    )
    iterations = array("q", range(1, count + 1))
    steps = array("d", [float("nan")] * count)
    return RankSeries(
        rank=0, series=Series(name=name, numbers=losses, iterations=iterations, steps=steps)
    )


def curves(shift: float = 0.0) -> bytes:
    losses = [2.0 / (step + 1) + shift * (step >= 3) for step in range(12)]
    norms = [1.0 + 0.1 * step for step in range(12)]
    return pack([curve(losses), curve(norms, "grad_norm")])


def good(night: Night, name: str, **other: object) -> TargetCheck:
    made = TargetCheck(
        night=night.id,
        target=name,
        started=night.started + 10,
        seconds=12.5,
        verdict="reproducible",
        exit_code=0,
        reason="2 runs of 12 iterations agree in every bit",
        good=True,
        bitwise=True,
        key=KEY,
        beside={"host": "node-1", "pillow": "11.0"},
        commit="5f2c9e10ab12",
        folder=f"nights/{night.id}/{name}/attempt-1",
        curves=curves(),
    )
    return replace(made, **other)  # type: ignore[arg-type]


def bad(night: Night, name: str, **other: object) -> TargetCheck:
    failing = {
        "verdict": "not_reproducible",
        "failed_check": "forward",
        "exit_code": 1,
        "reason": "iteration 1: 1.36 against 1.56, 0.2 apart, 0.00256 allowed",
        "good": False,
        "bitwise": False,
        "first_bitwise": 1,
        "first_divergence": 1,
        "rung": "forward",
        "place": "encoder.blocks.0.dropout",
        "causes": ("RC302", "RC601"),
        "source": "model/net.py:12",
    }
    return good(night, name, **(failing | other))


def state(night: Night, name: str, word: State, **other: object) -> TargetState:
    made = TargetState(night=night.id, target=name, state=word)
    return replace(made, **other)  # type: ignore[arg-type]


SENTENCES: dict[State, str] = {
    "unchanged": "As in the night before.",
    "new failure": "It was good in the night before, and is NOT REPRODUCIBLE (forward) now.",
    "still failing": "It fails as in the two nights before.",
    "fixed": "It failed in the night before, and is good again.",
    "intermittent": "It failed in 7 of the last 30 nights, without a change.",
    "drift": "`loss` differs from the accepted curve from step 3 on, by 1 ULP.",
    "expected drift": "The curves differ from those of another environment: torch 2.13.0 → 2.14.0.",
    "moved": "`loss` differs from the last good night from step 3 on, by 1 ULP.",
    "slower": "It takes 31 s, and took 12 s before.",
    "larger": "memory: 2.1 GB, 1.6 GB before; 5 % more is allowed",
    "known issue": "It fails, as is known until 2026-12-31.",
    "new target": "It is checked for the first time.",
    "gone": "The suite has it no more.",
    "not run": "The night ended before its turn.",
}
MEASURES = {"seconds": 0.0421, "memory": 2.1e9, "device_memory": 9e9, "growth": 3.2e5, "tok/s": 812}
MEASURED = {
    "seconds an iteration": "0.0421 s",
    "memory": "2.1 GB",
    "memory of the device": "9 GB",
    "growth of memory an iteration": "320 kB",
    "tok/s": "812",
}
"""What every format says of MEASURES."""
FAILS: tuple[State, ...] = ("new failure", "still failing", "drift")


def one_of_each() -> NightReport:
    """A night with a target in each state, of which three fail."""
    names = {word: word.replace(" ", "-") for word in SENTENCES}
    now, before = night(20, names.values()), night(19, names.values())
    kept = Baseline(
        target="drift",
        key=KEY,
        curves=curves(),
        why="new data loader",
        who="Ada Example <ada@example.org>",
        when=FIRST,
    )
    made = []
    for word, name in names.items():
        found = state(now, name, word, failed=word in FAILS, sentence=SENTENCES[word])
        attempts = (good(now, name),)
        if word in ("new failure", "still failing", "known issue"):
            attempts = (bad(now, name),)
        if word == "drift":
            attempts = (good(now, name, measures=MEASURES),)
        if word in ("gone", "not run"):
            attempts = ()
        if word == "intermittent":
            attempts = (bad(now, name), good(now, name, attempt=2))
        if word == "still failing":
            found = replace(found, since=before.id)
        if word == "drift":
            found = replace(
                found,
                drift=(DRIFT,),
                operation="aten.addmm in encoder.blocks.0, iteration 3",
                suspect=replace(SUSPECT, report=f"nights/{now.id}/drift/drift-compared-1"),
            )
        if word == "expected drift":
            found = replace(found, changed={"torch": ("2.13.0", "2.14.0")})
            attempts = (good(now, name, key=LATER_KEY),)
        made.append(
            TargetReport(
                name=name,
                target=None if word == "gone" else shown(settings(name)),
                state=found,
                attempts=attempts,
                baseline=kept if word == "drift" else None,
                accepted=word == "drift",
            )
        )
    return NightReport(night=now, targets=ordered(made))


def all_good() -> NightReport:
    now = night(3, ["a", "b"])
    made = [
        TargetReport(
            name=name,
            target=shown(target(name)),
            state=state(now, name, "unchanged", sentence=SENTENCES["unchanged"]),
            attempts=(good(now, name),),
        )
        for name in now.targets
    ]
    return NightReport(night=now, targets=tuple(made))


def under_way() -> NightReport:
    """A night that was killed: one target was checked, none has a state."""
    now = night(4, ["a", "b"], ended=None)
    return NightReport(
        night=now,
        targets=(
            TargetReport(name="a", target=shown(target("a")), attempts=(good(now, "a"),)),
            TargetReport(name="b", target=shown(target("b"))),
        ),
    )


def script_fails() -> NightReport:
    now = night(5, ["a"])
    check = bad(
        now,
        "a",
        verdict="script_failed",
        failed_check="",
        exit_code=4,
        reason="run 1 ended with exit status 1",
    )
    found = state(now, "a", "new failure", failed=True, sentence=SENTENCES["new failure"])
    return NightReport(
        night=now,
        targets=(
            TargetReport(name="a", target=shown(target("a")), state=found, attempts=(check,)),
        ),
    )


def hostile() -> NightReport:
    """Names, sentences and facts that try to be markup, to end a line or to steer a terminal."""
    now = night(6, [HOSTILE], commit=HOSTILE, executor=HOSTILE, shard="1/2")
    found = state(
        now,
        HOSTILE,
        "drift",
        failed=True,
        sentence=HOSTILE,
        changed={HOSTILE: ("", HOSTILE)},
        drift=(
            replace(DRIFT, series=HOSTILE, value=float("nan"), other=float("inf")),
            replace(DRIFT, missing=True),
        ),
        operation=HOSTILE,
        suspect=Suspect(report=HOSTILE, source=f"{HOSTILE}:1", diff=HOSTILE, commits=(HOSTILE,)),
    )
    check = bad(now, HOSTILE, reason=HOSTILE, place=HOSTILE, key=Key(facts={HOSTILE: HOSTILE}))
    kept = Baseline(target=HOSTILE, key=check.key, curves=b"", why=HOSTILE, who=HOSTILE, when=FIRST)
    row = TargetReport(
        name=HOSTILE,
        target=shown(target(HOSTILE, HOSTILE)),
        state=found,
        attempts=(check,),
        baseline=kept,
    )
    return NightReport(night=now, targets=(row,))


def many(number: int = 1000) -> NightReport:
    """So many targets that all fail, each with all that can be said."""
    names = [f"model-{place:04}[lr=0.1,seed={place}]" for place in range(number)]
    now = night(7, names)
    made = []
    for name in names:
        found = state(
            now,
            name,
            "new failure",
            failed=True,
            sentence=SENTENCES["new failure"],
            changed={f"package-{place}": ("1.0", "2.0") for place in range(12)},
            drift=tuple(replace(DRIFT, series=f"series-{place}") for place in range(12)),
        )
        made.append(
            TargetReport(
                name=name, target=shown(target(name)), state=found, attempts=(bad(now, name),)
            )
        )
    return NightReport(night=now, targets=tuple(made))


SAMPLES = {
    "one_of_each": one_of_each,
    "all_good": all_good,
    "under_way": under_way,
    "script_fails": script_fails,
    "hostile": hostile,
}


# ---------------------------------------------------------------------------- a history of nights

NIGHTS = 24


def suite_of(folder: Path, *targets: Target) -> Suite:
    """A suite with its history in its folder."""
    return Suite(
        targets=targets,
        folder=folder,
        history=f"sqlite:///{folder / 'history.sqlite'}",
        file=folder.parent / "reprocheck.toml",
    )


LIVES: dict[str, str] = {
    "resnet": "." * NIGHTS,
    "transformer": "." * 20 + "DDDD",
    "gan": "..I...I..I....I..I...I.I",
    "diffusion[lr=0.1,seed=2]": "." * 22 + "FF",
    "detector": "........FFFF..........SS",
    "tokenizer": "." * 12 + "E" + "." * 11,
    "recsys": " " * 18 + "N" + "." * 5,
    "speech": "." * 23 + "-",
}
"""A letter a night: . good, D drift, F fails, I fails now and then, S slower, E another environment,
N new, - not run, a space where the suite did not have it.
"""
_TAGS = {"resnet": ("vision",), "gan": ("vision", "slow"), "transformer": ("language",)}
_WORDS: dict[str, State] = {
    ".": "unchanged",
    "D": "drift",
    "F": "new failure",
    "I": "intermittent",
    "S": "slower",
    "E": "expected drift",
    "N": "new target",
    "-": "not run",
}


def fill(history: History, lives: dict[str, str] = LIVES) -> None:
    """Writes the nights of targets, each with a check and a state, and their baselines."""
    for number in range(NIGHTS):
        names = [name for name, life in lives.items() if life[number] != " "]
        now = night(number, names)
        history.begin_night(now)
        history.add_all(
            check for name in names for check in _checks(now, name, lives[name], number)
        )
        history.put_states(_state_in(now, name, lives[name], number) for name in names)
    for name in lives:
        history.accept(
            Baseline(
                target=name,
                key=KEY,
                curves=curves(),
                why="first night",
                who="Ada Example <ada@example.org>",
                when=FIRST,
                night=night_id(0),
            )
        )


def _checks(now: Night, name: str, life: str, number: int) -> list[TargetCheck]:
    letter = life[number]
    later = "E" in life[: number + 1]
    key = LATER_KEY if later else KEY
    folder = f"nights/{now.id}/{folder_name(name)}/attempt-1"
    common = {"key": key, "folder": folder, "seconds": 12.5 + number % 3}
    if letter == "-":
        return []
    if letter == "I":
        again = folder.replace("attempt-1", "attempt-2")
        return [
            bad(now, name, **common),
            good(now, name, **{**common, "attempt": 2, "folder": again}),
        ]
    if letter == "F":
        return [bad(now, name, **common, curves=curves(0.3))]
    if letter == "S":
        return [good(now, name, **{**common, "seconds": 31.0})]
    shift = 6e-8 if letter == "D" else 1e-7 if later else 0.0
    return [good(now, name, **common, curves=curves(shift))]


def _state_in(now: Night, name: str, life: str, number: int) -> TargetState:
    letter = life[number]
    word = _WORDS[letter]
    began = len(life[: number + 1].rstrip(letter))
    if word == "new failure" and began < number:
        word = "still failing"
    found = state(
        now,
        name,
        word,
        failed=word in FAILS,
        sentence=SENTENCES[word],
        since=night_id(began),
    )
    if letter == "D":
        operation = "aten.addmm in encoder.blocks.0, iteration 3"
        report = f"nights/{now.id}/{folder_name(name)}/train-compared-1"
        suspect = replace(SUSPECT, report=report)
        return replace(found, drift=(DRIFT,), operation=operation, suspect=suspect)
    if letter == "E":
        return replace(found, changed={"torch": ("2.13.0", "2.14.0")})
    return found


def known_targets(lives: dict[str, str] = LIVES) -> list[Target]:
    return [target(name, *_TAGS.get(name, ())) for name in lives]
