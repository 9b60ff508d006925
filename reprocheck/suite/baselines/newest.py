"""Which checks a command on baselines is about."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from typing import Protocol

from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.model import Night, TargetCheck

LOOK_BACK = 60
"""So many nights are looked at for the last check of a target."""


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


def last_checks(
    history: Checks, names: Collection[str], *, good: bool = False
) -> tuple[TargetCheck, ...]:
    """Return the last check of each of these targets that has one, by name, with curves.

    good  whether to return the last one that is good and recorded curves instead

    Raises BaselineError if no target was ever checked.
    """
    found: dict[str, TargetCheck] = {}
    checks: Sequence[TargetCheck] = ()
    for night in reversed(history.nights(last=LOOK_BACK)):
        checks = history.final(night.id) or checks
        for check in checks:
            if check.target in names and (not good or (check.good and check.curves)):
                found.setdefault(check.target, check)
        if len(found) == len(names):
            break
    if not checks:
        raise BaselineError("There is no night with a check.", _CHECK_ALL)
    return tuple(found[name] for name in sorted(found))


def of_night(
    history: Checks, night: str, names: Sequence[str] | None = None
) -> tuple[TargetCheck, ...]:
    """Return the last attempts at targets in a night, with curves.

    `names`: the names of the targets; None: all targets that the night checked.

    Raises BaselineError if the night has no check, or none of a named target; HistoryError if there
    is no night of that name.
    """
    checks = history.final(history.night(night).id)
    if not checks:
        raise BaselineError(f"Night {night} has no check.", _CHECK_ALL)
    if names is None:
        return checks
    by_name = {check.target: check for check in checks}
    for name in names:
        if name not in by_name:
            raise BaselineError(
                f"Night {night} has no check of {name}.",
                f"Check it, `reprocheck suite run {shlex.quote(name)}`, or name another night with"
                " --night.",
            )
    return tuple(by_name[name] for name in names)


_CHECK_ALL = "`reprocheck suite run` checks all targets."


def with_curves(history: Checks, target: str) -> TargetCheck:
    """Return the last check of a target that recorded curves.

    Raises BaselineError if there is none.
    """
    for check in reversed(history.checks(target=target, last=LOOK_BACK, curves=True)):
        if check.curves:
            return check
    raise BaselineError(
        f"No check of {target} has recorded curves yet, so its key and series are not known.",
        f"Check it first: reprocheck suite run {shlex.quote(target)}",
    )
