"""The smallest command that shows what a check showed: the settings that matter, and no other."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise

from reprocheck.model import Check, Setting
from reprocheck.report.text import line

MATTER: Mapping[str, object] = {
    "rtol": 1e-3,
    "atol": 1e-3,
    "workdir": "inplace",
    "fail_on": "checks",
    "control": (),
    "seed": None,
    "deterministic": False,
    "no_dropout": False,
    "all_controls": False,
    "jobs": 1,
    "jobs_on_accelerator": False,
}
"""Settings that can change what a check shows, with their usual values.

How far and how deep it goes is decided here.
"""


def command(check: Check) -> str:
    """Return the shortest command that shows the difference.

    `reprocheck run --level module --steps 2 train.py`; of two recordings, the commands that make
    and compare them, one per line.
    """
    options = [*_options(check)]
    sides = check.record.compared
    if not sides:
        return _typed("run", *options, *check.record.entry_point.words)
    files = [f"{number}.zip" for number, _ in enumerate(sides, start=1)]
    made = (
        _typed("record", "-o", file, *_of_a_run(options), *side.entry_point.words)
        for file, side in zip(files, sides, strict=True)
    )
    return "\n".join([*made, _typed("compare", *files)])


def _typed(*words: str) -> str:
    return line(shlex.join(["reprocheck", *words]))


def _of_a_run(options: list[str]) -> list[str]:
    """Return the first of the options, `--steps` and `--level`: `record` takes no criterion."""
    return [
        word
        for flag, value in pairwise(options)
        if flag in ("--steps", "--level")
        for word in (flag, value)
    ]


def _options(check: Check) -> Iterator[str]:
    if check.record.setting("runs") not in (None, 2) and not _second_run_shows_it(check):
        yield from ("--runs", str(len(check.runs)))
    yield from ("--steps", _steps(check))
    if check.ladder is not None:
        yield from ("--level", check.ladder.level)
    for setting in check.record.settings:
        if _matters(setting):
            yield from _flags(setting)


def _matters(setting: Setting) -> bool:
    if setting.name not in MATTER or setting.value in ("none", None):
        return False
    return setting.value != MATTER[setting.name]


def _second_run_shows_it(check: Check) -> bool:
    """Return whether run 2 is one of the runs that differ from run 1."""
    groups = check.verdict.outcomes.groups
    return not any({1, 2} <= set(group.runs) for group in groups)


def _steps(check: Check) -> str:
    """Return how many iterations are needed to reach the first difference of the verdict."""
    verdict = check.verdict
    if verdict.verdict not in ("not_reproducible", "reproducible"):
        return str(check.record.setting("steps", 10))
    needed = [row.iteration for row in verdict.comparisons]
    if verdict.first_divergence is not None:
        needed.append(verdict.first_divergence.iteration)
    elif verdict.bitwise.first_iteration is not None:
        needed.append(verdict.bitwise.first_iteration)
    for row in verdict.differing_series:
        needed.append(row.first_outside.iteration if row.first_outside else 0)
    return str(max(needed, default=2))


def _flags(setting: Setting) -> Iterator[str]:
    flag = f"--{setting.name.replace('_', '-')}"
    value = setting.value
    if value is True:
        yield flag
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from (flag, str(one))
    elif isinstance(value, float):
        yield from (flag, f"{value:g}")
    else:
        yield from (flag, str(value))
