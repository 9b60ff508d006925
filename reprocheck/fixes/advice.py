"""The fix of a cause where no line of the user's gives one.

It is a command, what the confirming control does, or the catalogue's. A fix that was made for a
line comes first: see `causes.scanned` for what the scan would change there, and `seeded_call`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from reprocheck.fixes import left_state
from reprocheck.ladder.operators import CPU, device_of
from reprocheck.model import Cause, Check, SourceLine
from reprocheck.model.explanation import FixFrom
from reprocheck.model.statement import Statement
from reprocheck.model.statements.fixes import CatalogueFix, ControlFix, InNames
from reprocheck.report.command_line import again, in_shell
from reprocheck.rules import Entry, entry, likely
from reprocheck.rules.likely import is_vague, place_of, removes
from reprocheck.settings import controls

PYTHON = "python"
"""Stands for no framework."""
_ONE_THREAD = "an order of additions if it is gone with one thread"
_BLOCKING = "a race if it is gone when kernels wait for each other"


def fix_of(check: Check, known: Entry, frameworks: Sequence[str] = ()) -> Statement | str:
    """Return the fix of an entry of the catalogue for this check."""
    made = _OF_CHECK.get(known.name)
    if made is not None:
        return made(check)
    device = device_of(check)
    return CatalogueFix(code=known.code, keys=(*_keys(frameworks, device), device))


def advised(check: Check, cause: Cause, frameworks: Sequence[str] = ()) -> Cause:
    """Return a cause with the fix that its catalogue entry has for this check."""
    known = entry(cause.code)
    fix_from: FixFrom = "catalogue"
    if known.name in _OF_CHECK:
        fix_from = "check"
    return replace(cause, remedy=fix_of(check, known, frameworks), fix_from=fix_from)


def in_names(names: Mapping[str, str], fix: Statement | str) -> Statement | str:
    """Return a fix with the names that a script gives modules: `np.random` for `numpy.random`."""
    others = tuple((module, name) for module, name in names.items() if name != module)
    if not others or not fix:
        return fix
    return InNames(fix=fix, names=others)


def with_names_of(names: Mapping[str, str], cause: Cause) -> Cause:
    """Return a cause whose fix uses the names of a script, if it is the fix of the catalogue.

    Its lines for the script use them, while modules in a command keep their names.
    """
    if cause.fix_from == "place" or entry(cause.code).name in _OF_CHECK:
        return cause
    return replace(cause, remedy=in_names(names, cause.remedy))


def after_control(
    check: Check, cause: Cause, control: str, frameworks: Sequence[str] = ()
) -> Cause:
    """Return a cause that a control confirmed, with the control's fix if that helps more.

    It does if the catalogue's fix only looks for the cause, another control is nearer to the cause,
    or the generator has a seed.
    """
    if cause.fix_from == "place":
        return cause
    unsaid = is_vague(cause) or entry(cause.code).name in _SEARCHES
    computes_otherwise = control in _COMPUTE and not removes(control, cause.code)
    is_about_seeds = entry(cause.code).name == _CHANGING_SEED
    # where a control of what is read is needed in place of the one that gives a seed to generators
    # without one, the generator has a seed, which is another in each run
    has_changing_seed = control in likely.table().reads and (
        is_about_seeds or place_of("private-rng", cause.code) == 0
    )
    fix = control_fix(frameworks, control, device_of(check))
    if fix is not None and (unsaid or computes_otherwise or has_changing_seed):
        return replace(cause, remedy=fix, fix_from="check")
    return cause


def fixed_number(line: SourceLine | None) -> str:
    """Return an assignment of a fixed number to the same name; "" if the line is no assignment."""
    text = "" if line is None else line.text.strip()
    with suppress(SyntaxError):
        match ast.parse(text).body:
            case [ast.Assign(targets=[ast.Name() | ast.Attribute() as target])]:
                return f"{ast.unparse(target)} = 0  # a fixed number"
    return ""


def control_fix(frameworks: Sequence[str], name: str, device: str = CPU) -> ControlFix | None:
    """Return the change of the script that has the effect of a control.

    None if none is known for these frameworks.
    """
    fixes = controls.control(name).fix
    keys = _keys((*frameworks, PYTHON), device)
    found = (ControlFix(control=name, key=key) for key in keys if key in fixes)
    return next(found, None)


def _keys(frameworks: Sequence[str], device: str) -> list[str]:
    """Return the keys of fixes for these frameworks, those of the used device first."""
    return [key for framework in frameworks for key in (f"{framework} {device}", framework)]


def _how_often(check: Check) -> str:
    """Return the commands that show how often the runs differ.

    Also whether they still differ with one thread or with blocking launches.
    """
    often = f"# how often the runs differ\n{again(check, '--runs 10')}"
    if device_of(check) == CPU:
        return f"{often}\n# {_ONE_THREAD}\n{again(check, '--runs 10 --control single-thread')}"
    return f"{often}\n# {_BLOCKING}\n{again(check, '--runs 10 --control launch-blocking')}"


def _whole_training(check: Check) -> str:
    return f"# {_ONE_THREAD}\n{again(check, '--steps all --control single-thread')}"


def _hash_seed(check: Check) -> str:
    """Return the user's own command with `PYTHONHASHSEED` set before it."""
    return f"PYTHONHASHSEED=0 {' '.join(map(in_shell, check.record.entry_point.command))}"


_OF_CHECK: Mapping[str, Callable[[Check], Statement | str]] = MappingProxyType(
    {
        left_state.NAME: left_state.fix_of,
        "intermittent-difference": _how_often,
        "late-drift": _whole_training,
        "late-hash-seed": _hash_seed,
    }
)
"""Entries whose fix is a command: it is the user's own, made for what ran."""
_COMPUTE = ("deterministic", "single-thread", "no-compile", "single-worker", "launch-blocking")
"""Controls of how a training computes, whose own fix is the one that helps.

What the other controls act on is fixed where the script draws or reads it.
"""
_CHANGING_SEED = "clock-seed"
"""The entry for a seed that is another in each run: one more seeding call would not change it."""
_SEARCHES = ("intermittent-difference", "late-drift")
"""Those of them whose commands only look for the cause."""
