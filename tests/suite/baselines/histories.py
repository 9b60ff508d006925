"""A history in memory, with what baselines ask of one."""

from __future__ import annotations

from dataclasses import dataclass, field

from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.curves import pack
from reprocheck.suite.model import Baseline, Key, Night, RankSeries, TargetCheck

KEY = Key(facts={"torch": "2.13.0", "options": "train.py"})


def check_of(
    *curves: RankSeries, target: str = "small", night: str = "n1", key: Key = KEY, **more: object
) -> TargetCheck:
    """A good check that recorded these curves."""
    packed = pack(curves) if curves else b""
    given = {"good": True, "bitwise": True, "verdict": "reproducible", "exit_code": 0, **more}
    return TargetCheck(night=night, target=target, key=key, curves=packed, **given)  # type: ignore[arg-type]


@dataclass
class Memory:
    """Checks and baselines in lists, oldest first."""

    rows: list[TargetCheck] = field(default_factory=list)
    accepted: list[Baseline] = field(default_factory=list)

    def accept(self, *several: Baseline) -> None:
        self.accepted += several

    def baseline(self, target: str, key: Key) -> Baseline | None:
        found = [one for one in self.baselines(target) if one.key.digest == key.digest]
        return next(iter(found), None)

    def baselines(self, target: str | None = None) -> tuple[Baseline, ...]:
        return tuple(one for one in reversed(self.accepted) if target in (None, one.target))

    def nights(self, last: int | None = None) -> tuple[Night, ...]:
        names = dict.fromkeys(check.night for check in self.rows)
        found = tuple(Night(id=name, started=0.0) for name in names)
        return found[-last:] if last else found

    def night(self, name: str) -> Night:
        found = (one for one in self.nights() if one.id == name)
        night = next(found, None)
        if night is None:
            raise BaselineError(f"no night {name}")
        return night

    def final(self, night: str) -> tuple[TargetCheck, ...]:
        return tuple({one.target: one for one in self.checks(night)}.values())

    def checks(
        self,
        night: str | None = None,
        target: str | None = None,
        last: int | None = None,
        *,
        curves: bool = False,
    ) -> tuple[TargetCheck, ...]:
        asked = [
            one for one in self.rows if night in (None, one.night) and target in (None, one.target)
        ]
        return tuple(asked[-last:] if last else asked)
