"""Environment and settings of a check, as sections."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.language import count, tr
from reprocheck.model import Check
from reprocheck.report.blocks import Block, Fold, Section, Table, Text, section
from reprocheck.report.document import facts
from reprocheck.report.text import fact, line


def environment(check: Check) -> Section | None:
    """Return the section on environment differences between the runs, with all facts of run 1."""
    return section("environment", tr("Environment"), _blocks(check))


def _blocks(check: Check) -> Iterator[Block]:
    differing = differences(check)
    if differing.rows:
        yield differing
    elif len(check.runs) > 1:
        yield Text("No difference between the runs was found.")
    else:
        yield Text("There is one run, so there is nothing to compare.")
    known = _known(check)
    if known.rows:
        yield Fold(title=f"{known.title} ({count(len(known.rows), 'fact')})", blocks=(known,))


def differences(check: Check) -> Table:
    """Return facts that are not the same in all runs."""
    rows = [
        (line(row.key), f"{row.run}", fact(row.reference), fact(row.value))
        for row in check.environment_differences
    ]
    return Table(
        title="Differences between the runs",
        heads=("fact", "run", "in run 1", "in this run"),
        rows=tuple(rows),
        marked=frozenset(range(len(rows))),
    )


def _known(check: Check) -> Table:
    """Return all facts of run 1; those that differ in another run are marked."""
    known = sorted(facts(check).items())
    differing = {row.key for row in check.environment_differences}
    marked = frozenset(index for index, (key, _) in enumerate(known) if key in differing)
    rows = tuple((line(key), fact(value)) for key, value in known)
    title = "Environment of run 1"
    return Table(title=title, heads=("fact", "value"), rows=rows, marked=marked, captioned=False)


def settings(check: Check) -> Section | None:
    """Return each setting, its value and its origin; None if there are none."""
    rows = tuple(
        (line(setting.name), fact(setting.value), line(setting.origin))
        for setting in check.record.settings
    )
    if not rows:
        return None
    heads = ("setting", "value", "from")
    table = Table(title=tr("Settings"), heads=heads, rows=rows, captioned=False)
    title = f"{count(len(rows), 'setting')} and where each value came from"
    return section("settings", tr("Settings"), Fold(title=title, blocks=(table,)))
