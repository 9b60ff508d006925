"""A check of a night becomes the baseline of its target and key."""

from __future__ import annotations

import getpass
import shlex
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from reprocheck.suite.baselines.compare import compare
from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.curves import unpack
from reprocheck.suite.model import Baseline, Difference, Key, RankSeries, TargetCheck

Changes = Mapping[str, tuple[str, str]]
"""Facts of the environment that are not the same: name -> (then, now); "" where there is none."""
FILL_IN = '--why "REASON"'
"""What stands in a command for a reason that only its reader can give; the help names it so."""


class Accepted(Protocol):
    """List the baseline queries of a history that are used here."""

    def baseline(self, target: str, key: Key) -> Baseline | None:
        """Return the baseline that counts for a target and environment key.

        None if there is none.
        """

    def baselines(self, target: str | None = None) -> tuple[Baseline, ...]:
        """Return all baselines, by target, newest first."""


class Baselines(Accepted, Protocol):
    """List the methods of a history that are used here."""

    def accept(self, *several: Baseline) -> None:
        """Record baselines, which count from now on."""


def accept(
    history: Baselines,
    checks: Iterable[TargetCheck],
    why: str,
    who: str,
    *,
    force: bool = False,
    recordings: Mapping[str, str] | None = None,
) -> list[Baseline]:
    """Accept the curves of these checks, all or none of them; return the baselines.

    why         the reason, for people who ask later; must not be empty
    force       whether to accept checks that are not good, too
    recordings  target -> deeper recording of the accepted training, relative to the folder of the
                suite

    Raises BaselineError if a check is not good or recorded nothing, HistoryError if the history
    cannot be written.
    """
    reason = said(why)
    all_checks = tuple(checks)
    refuse(all_checks, force=force)
    when = time.time()
    made = []
    for check in all_checks:
        previous = baseline_for(history, check.target, check.key)
        replaced: tuple[Difference, ...] = ()
        if previous is not None:
            replaced = apart(unpack(check.curves), previous, check)
        baseline = Baseline(
            target=check.target,
            key=check.key,
            curves=check.curves,
            why=reason,
            who=who,
            when=when,
            bitwise=check.bitwise is True,
            night=check.night,
            commit=check.commit,
            environment={**check.beside, **check.key.facts},
            replaced=replaced,
            recording=(recordings or {}).get(check.target, ""),
        )
        made.append(baseline)
    history.accept(*made)
    return made


def accept_command(*targets: str, night: str = "", why: str = "REASON") -> str:
    """Return the command that accepts a night's curves of the given targets.

    Of all targets if none is given; without a night those that were checked last. `why`: the
    reason, by default a placeholder to fill in.
    """
    of_night = ("--night", night) if night else ()
    words = shlex.join(("reprocheck", "suite", "baseline", "accept", *targets, *of_night))
    return f'{words} --why "{why}"'


def reset_command(target: str) -> str:
    """Return the command that removes the baselines of a target."""
    return shlex.join(("reprocheck", "suite", "baseline", "reset", target))


def said(why: str) -> str:
    """Return the reason without surrounding space.

    Raises BaselineError if it has no letter and no digit.
    """
    if not any(map(str.isalnum, why)):
        raise BaselineError(
            "A baseline needs a reason.",
            f"Say why the numbers may be these: {FILL_IN}",
        )
    return why.strip()


def who_accepts(folder: Path) -> str:
    """Return the git user name for this folder, else the login name.

    The e-mail address is left out because it is private.
    """
    command = ("git", "config", "--get", "user.name")
    with suppress(OSError, subprocess.TimeoutExpired):
        ended = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=10, check=False
        )
        if name := ended.stdout.strip():
            return name
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def baseline_for(history: Accepted, target: str, key: Key) -> Baseline | None:
    """Return the baseline that a check is compared with, which its acceptance replaces.

    It is the one of its environment key, else the newest of another key.
    """
    same_key = history.baseline(target, key)
    if same_key is not None:
        return same_key
    return next(iter(history.baselines(target)), None)


def changed(then: Mapping[str, str], now: Mapping[str, str]) -> Changes:
    """Return the environment facts that differ, by name."""
    return {
        name: (then.get(name, ""), now.get(name, ""))
        for name in sorted(then.keys() | now.keys())
        if then.get(name) != now.get(name)
    }


def apart(
    curves: Sequence[RankSeries], baseline: Baseline, check: TargetCheck
) -> tuple[Difference, ...]:
    """Return the series that differ from a baseline, at the tolerance of a check."""
    return compare(curves, unpack(baseline.curves), check.rtol, check.atol)


def refuse(checks: Sequence[TargetCheck], *, force: bool) -> None:
    """Raise BaselineError for the first check that cannot be accepted.

    It recorded no curves, or is not good, unless `force`.
    """
    if not checks:
        raise BaselineError(
            "There is no check to accept.", "`reprocheck suite run` checks the targets first."
        )
    for check in checks:
        if not check.curves:
            raise BaselineError(
                f"The check of {check.target} in night {check.night} recorded no curves.",
                f"Look at it, and check it again: reprocheck suite run {shlex.quote(check.target)}",
            )
        if not check.good and not force:
            raise BaselineError(
                f"The check of {check.target} in night {check.night} is not good:"
                f" {check.reason or check.verdict}",
                "A baseline is made of a good check. Accept it all the same with --force.",
            )
