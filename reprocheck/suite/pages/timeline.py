"""The nights of one target on an axis, with the nights in which its environment changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reprocheck.suite.model import Night, OverviewRow, TargetCheck
from reprocheck.suite.pages import sparkline, words

WIDTH, HEIGHT = 920, 120
_LEFT, _TOP, _BOTTOM = 4, 26, 24
SHOWN = 8
"""Facts of a change that are shown at once."""
Fact = tuple[str, tuple[str, str]]
_DATES = 6
"""Dates below the axis, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentChange:
    """Hold environment facts that differ from the check before: name -> (old value, new value).

    number  the number of the change on the axis
    when    when the check began: seconds since 1970
    """

    number: int
    night: str
    when: float
    facts: dict[str, tuple[str, str]]

    @property
    def first(self) -> list[Fact]:
        """Return the facts that are shown at once."""
        return list(self.facts.items())[:SHOWN]

    @property
    def more(self) -> list[Fact]:
        """Return the facts that are folded away."""
        return list(self.facts.items())[SHOWN:]


def changes(checks: Sequence[TargetCheck]) -> list[EnvironmentChange]:
    """Return the checks whose environment facts differ from the check before.

    `checks`: oldest first.

    A check whose script ended before anything was recorded is passed over.
    """
    found: list[EnvironmentChange] = []
    for before, check in pairwise(check for check in checks if check.key.facts):
        then, now = _facts(before), _facts(check)
        pairs = {name: (then.get(name, ""), now.get(name, "")) for name in then | now}
        facts = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
        if facts:
            found.append(
                EnvironmentChange(
                    number=len(found) + 1, night=check.night, when=check.started, facts=facts
                )
            )
    return found


def _facts(check: TargetCheck) -> dict[str, str]:
    """Return the environment facts of a check: its key and the other facts, without the commit."""
    return {**check.key.facts, **check.beside}


def svg(
    nights: Sequence[Night],
    rows: Sequence[OverviewRow | None],
    marked: Sequence[EnvironmentChange],
) -> str:
    """Draw one bar per night.

    Its colour is the outcome, its height the time; a number marks where the environment changed.
    """
    step = (WIDTH - 2 * _LEFT) / len(nights)
    places = {night.id: _LEFT + (place + 0.5) * step for place, night in enumerate(nights)}
    parts = [*_bars(nights, rows, places, step)]
    for change in marked:
        x = round(places[change.night], 1)
        parts.append(f'<path class="mark" d="M{x} 18V{HEIGHT - _BOTTOM}"/>')
        parts.append(f'<text class="mark" x="{x}" y="13">{change.number}</text>')
    stride = -(-len(nights) // _DATES)
    for night in nights[::stride]:
        x = min(max(round(places[night.id], 1), 40.0), WIDTH - 40.0)
        day = words.moment(night.started)[:10]
        parts.append(f'<text class="place" x="{x}" y="{HEIGHT - 4}">{day}</text>')
    said = sparkline.label(rows)
    if marked:
        said += f"; the environment changed in {len(marked)} of them"
    head = f'<svg class="timeline" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">'
    return f"{head}{''.join(parts)}</svg>"


def _bars(
    nights: Sequence[Night],
    rows: Sequence[OverviewRow | None],
    places: dict[str, float],
    step: float,
) -> Iterator[str]:
    most = max((row.seconds for row in rows if row is not None), default=0.0) or 1.0
    room = HEIGHT - _TOP - _BOTTOM
    width = min(step * 0.7, 26.0)
    for night, row in zip(nights, rows, strict=True):
        kind = sparkline.kind(row)
        share = 0.04
        if row is not None and kind != "none":
            share = max(0.12, row.seconds / most)
        tall = round(room * share, 1)
        x = round(places[night.id] - width / 2, 1)
        yield (
            f'<rect class="{kind}" x="{x}" y="{HEIGHT - _BOTTOM - tall}" width="{width:.1f}"'
            f' height="{tall}"><title>{words.moment(night.started)}:'
            f" {sparkline.KINDS[kind]}</title></rect>"
        )
