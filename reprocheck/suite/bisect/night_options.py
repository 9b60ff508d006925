"""What the target was run with in the two nights, and the target as it was run in one of them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace

from reprocheck import settings
from reprocheck.settings import OPTIONS
from reprocheck.suite.keys import CHANGING, AsRun, as_held, as_masked, as_run, as_typed
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.target import Target

Changed = Mapping[str, tuple[str, str]]
"""What is not the same: name -> (then, now); "" where there is none."""
INTERPRETER = "python"
"""The option that is no choice between two trainings: what it has installed is searched."""
VARIABLE = "variable."
"""Before the name of a variable, as among the facts beside a key."""
_COMPARED = tuple(one for one in OPTIONS if one.name in CHANGING and one.name != INTERPRETER)


def changed(good: TargetCheck, bad: TargetCheck, *, tolerances: bool) -> Changed:
    """Return what two checks were not both made with: words, options and variables.

    They are of the command line of the target; nothing where one of the checks did not record it.

    tolerances  whether to include tolerances, which decide a verdict but change no bit
    """
    then, now = _all(good), _all(bad)
    if not then or not now:
        return {}
    if tolerances:
        then, now = {**then, **_tolerances(good)}, {**now, **_tolerances(bad)}
    pairs = {name: (then.get(name, ""), now.get(name, "")) for name in dict.fromkeys((*then, *now))}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def facts_told(good: TargetCheck, bad: TargetCheck) -> set[str]:
    """Return the names of the recorded facts that `changed` already reports in full."""
    if not _all(good) or not _all(bad):
        return set()
    return {"options", *changed(good, bad, tolerances=False)}


def as_in(target: Target, check: TargetCheck) -> Target:
    """Return the target with the options of a night that may change numbers.

    All else is as in the suite.
    """
    was = as_run(check.key)
    if was is None:
        return target
    was = as_typed(was, _as_now(target))
    left = {
        name: value
        for name, value in target.options.items()
        if name not in CHANGING or name == INTERPRETER
    }
    options = {**left, **_without_interpreter(was), "rtol": check.rtol, "atol": check.atol}
    return replace(target, words=was.words, environment=was.environment, options=options)


def now_otherwise(target: Target, check: TargetCheck) -> tuple[str, str] | None:
    """Return the command that a target had in a night, and the one it would have now.

    Each is a command line with its options; None if they are equal or the former is unknown.
    """
    was = as_run(check.key)
    if was is None:
        return None
    now = as_masked(_as_now(target))
    texts = tuple(replace(one, options=_without_interpreter(one)).text for one in (was, now))
    if texts[0] == texts[1]:
        return None
    return texts[0], texts[1]


def _as_now(target: Target) -> AsRun:
    provenance = settings.load(target.options, target.workdir).provenance
    return as_held({setting.name: setting.value for setting in provenance}, target)


def _without_interpreter(run: AsRun) -> Mapping[str, object]:
    return {name: value for name, value in run.options.items() if name != INTERPRETER}


def _all(check: TargetCheck) -> dict[str, str]:
    """Return the command line, options and variables of a check, by the names that people know."""
    was = as_run(check.key)
    if was is None:
        return {}
    options = {option.key: was.options.get(option.name, option.default) for option in _COMPARED}
    return {
        "command line": shlex.join(was.words),
        **{f"{VARIABLE}{name}": value for name, value in was.environment.items()},
        **{name: str(value) for name, value in options.items()},
    }


def _tolerances(check: TargetCheck) -> dict[str, str]:
    return {"rtol": f"{check.rtol:g}", "atol": f"{check.atol:g}"}
