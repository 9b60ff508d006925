"""Which checks a command on baselines is about."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Protocol

from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.model import Night, TargetCheck

LOOK_BACK = 60
"""So many nights are looked at for the last one that checked anything."""


class Checks(Protocol):
    """List the queries of a history that are used here."""

    def nights(self, last: int | None = None) -> tuple[Night, ...]:
        """Return the nights, oldest first."""

    def night(self, name: str) -> Night:
        """Return the night of that name."""

    def final(self, night: str) -> tuple[TargetCheck, ...]:
        """Return the last attempt of each target in a night, with curves."""

    def checks(
        self,
        night: str | None = None,
        target: str | None = None,
        last: int | None = None,
        *,
        curves: bool = False,
    ) -> tuple[TargetCheck, ...]:
        """Return checks, oldest first."""


def of_night(
    history: Checks, night: str | None = None, names: Sequence[str] | None = None
) -> tuple[TargetCheck, ...]:
    """Return the last attempts at targets in a night, with curves.

    night  the name of the night; None: the last night that checked anything
    names  the names of the targets; None: all targets that the night checked

    Raises BaselineError if there is no night, or the night has no check of a named target;
    HistoryError if there is no night of that name.
    """
    checks = _checked(history, night)
    if names is None:
        return checks
    by_name = {check.target: check for check in checks}
    for name in names:
        if name not in by_name:
            raise BaselineError(
                f"Night {checks[0].night} has no check of {name}.",
                f"Check it, `reprocheck suite run {shlex.quote(name)}`, or name another night with"
                " --night.",
            )
    return tuple(by_name[name] for name in names)


def _checked(history: Checks, night: str | None) -> tuple[TargetCheck, ...]:
    if night is not None:
        nights: Sequence[Night] = (history.night(night),)
    else:
        nights = history.nights(last=LOOK_BACK)
    for one in reversed(nights):
        if checks := history.final(one.id):
            return checks
    what = f"Night {night} has no check." if night else "There is no night with a check."
    raise BaselineError(what, "`reprocheck suite run` checks all targets.")


def with_curves(history: Checks, target: str) -> TargetCheck:
    """Return the last check of a target that recorded curves. Raises BaselineError if there is
    none.
    """
    for check in reversed(history.checks(target=target, last=LOOK_BACK, curves=True)):
        if check.curves:
            return check
    raise BaselineError(
        f"No check of {target} has recorded curves yet, so its key and series are not known.",
        f"Check it first: reprocheck suite run {shlex.quote(target)}",
    )
