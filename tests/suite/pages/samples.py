"""Nights made by hand: one of each state, hostile names, a thousand that fail; a history in memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from reprocheck.model import LossSeries, Series
from reprocheck.suite.curves import pack
from reprocheck.suite.model import (
    Baseline,
    Difference,
    Key,
    Night,
    RankSeries,
    State,
    Target,
    TargetCheck,
    TargetState,
)
from reprocheck.suite.pages import NightReport, TargetReport
from reprocheck.suite.pages.report import ordered
from tests.report.parts import HOSTILE

DAY = 86_400.0
FIRST = 1_795_399_200.0
"""2026-11-23 02:00 UTC."""
KEY = Key(facts={"torch": "2.13.0", "device": "Example CPU", "ranks": "1", "threads": "2"})
LATER_KEY = Key(facts={**KEY.facts, "torch": "2.14.0"})
WORKDIR = Path("/data/nightly/examples")
DRIFT = Difference(
    series="loss", first_bit=3, step=3.0, ulp=1, relative=1.2e-7, value=0.50000006, other=0.5
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
    "slower": "It takes 31 s, and took 12 s before.",
    "new target": "It is checked for the first time.",
    "gone": "The suite has it no more.",
    "not run": "The night ended before its turn.",
}
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
        if word in ("new failure", "still failing"):
            attempts = (bad(now, name),)
        if word in ("gone", "not run"):
            attempts = ()
        if word == "intermittent":
            attempts = (bad(now, name), good(now, name, attempt=2))
        if word == "still failing":
            found = replace(found, since=before.id)
        if word == "drift":
            found = replace(
                found, drift=(DRIFT,), operation="aten.addmm in encoder.blocks.0, iteration 3"
            )
        if word == "expected drift":
            found = replace(found, changed={"torch": ("2.13.0", "2.14.0")})
            attempts = (good(now, name, key=LATER_KEY),)
        made.append(
            TargetReport(
                name=name,
                target=None if word == "gone" else target(name, "fast"),
                state=found,
                attempts=attempts,
                baseline=kept if word == "drift" else None,
            )
        )
    return NightReport(night=now, targets=ordered(made), folder=Path("/data/nightly"))


def all_good() -> NightReport:
    now = night(3, ["a", "b"])
    made = [
        TargetReport(
            name=name,
            target=target(name),
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
            TargetReport(name="a", target=target("a"), attempts=(good(now, "a"),)),
            TargetReport(name="b", target=target("b")),
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
        targets=(TargetReport(name="a", target=target("a"), state=found, attempts=(check,)),),
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
    )
    check = bad(now, HOSTILE, reason=HOSTILE, place=HOSTILE, key=Key(facts={HOSTILE: HOSTILE}))
    kept = Baseline(target=HOSTILE, key=check.key, curves=b"", why=HOSTILE, who=HOSTILE, when=FIRST)
    row = TargetReport(
        name=HOSTILE, target=target(HOSTILE, HOSTILE), state=found, attempts=(check,), baseline=kept
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
            TargetReport(name=name, target=target(name), state=found, attempts=(bad(now, name),))
        )
    return NightReport(night=now, targets=tuple(made))


SAMPLES = {
    "one_of_each": one_of_each,
    "all_good": all_good,
    "under_way": under_way,
    "script_fails": script_fails,
    "hostile": hostile,
}


@dataclass
class Kept:
    """A history in memory, with what the pages read of one."""

    every_night: list[Night] = field(default_factory=list)
    every_check: list[TargetCheck] = field(default_factory=list)
    every_state: list[TargetState] = field(default_factory=list)
    every_baseline: list[Baseline] = field(default_factory=list)

    def nights(self, last: int | None = None) -> tuple[Night, ...]:
        return tuple(self.every_night[-(last or 0) :])

    def night(self, id: str) -> Night:
        return next(one for one in self.every_night if one.id == id)

    def checks(
        self,
        night: str | None = None,
        target: str | None = None,
        last: int | None = None,
        curves: bool = False,
    ) -> tuple[TargetCheck, ...]:
        found = [
            one if curves else replace(one, curves=b"")
            for one in self.every_check
            if night in (None, one.night) and target in (None, one.target)
        ]
        return tuple(found[-(last or 0) :])

    def states(
        self, night: str | None = None, target: str | None = None, last: int | None = None
    ) -> tuple[TargetState, ...]:
        found = [
            one
            for one in self.every_state
            if night in (None, one.night) and target in (None, one.target)
        ]
        return tuple(found[-(last or 0) :])

    def baseline(self, target: str, key: Key) -> Baseline | None:
        found = [one for one in self.every_baseline if (one.target, one.key) == (target, key)]
        return found[-1] if found else None

    def baselines(self, target: str | None = None) -> tuple[Baseline, ...]:
        return tuple(one for one in self.every_baseline if target in (None, one.target))
