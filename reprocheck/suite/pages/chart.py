"""Curves of nights over each other: what is drawn, as SVG and as data for the live chart.

Nights whose values are equal in every bit are one line; so the chart shows at a glance how many
different curves there are, and since when.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from markupsafe import escape

from reprocheck.language import count
from reprocheck.model import LOSS_SERIES, Series
from reprocheck.report.text import line
from reprocheck.suite.curves import unpack
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.pages import words

MOST_SERIES = 12
MOST_LINES = 6
"""Different curves in a chart: as many as can be told apart by their colours."""
MOST_POINTS = 600
"""Values of a line; of longer series every second, third… is drawn."""
_DECADES = 1000.0
"""Values that are all positive are drawn on a logarithmic scale from this range on."""
BASELINE = 0
"""The colour of the baseline; nights have 1 to `MOST_LINES`."""
Values = tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """Values that one or more nights share. `x`: iterations or steps, as long as `y`."""

    label: str
    colour: int
    x: tuple[float, ...]
    y: Values


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """One series of a target. `note`: what is not drawn."""

    name: str
    axis: str
    lines: tuple[Line, ...]
    note: str = ""

    @property
    def values(self) -> list[float]:
        """All values that are drawn."""
        return [y for one in self.lines for y in one.y if y is not None]

    @property
    def logarithmic(self) -> bool:
        """Return whether the values are all positive, over more than three decades."""
        return bool(self.values) and 0 < min(self.values) * _DECADES < max(self.values)


def charts(checks: Sequence[TargetCheck], baseline: bytes, called: str) -> list[Chart]:
    """Return a chart a series, the loss first, and one with the differences from the baseline.

    checks    with curves, oldest first
    baseline  the curves of it, empty where there is none; `called`: in the chart
    """
    groups = _groups(checks)
    accepted = _unpacked(baseline)
    names = dict.fromkeys(chain.from_iterable((*(group.series for group in groups), accepted)))
    ordered = sorted(names, key=lambda name: name != LOSS_SERIES)
    drawn = [_chart(name, groups, accepted, called) for name in ordered[:MOST_SERIES]]
    return [made for found in drawn for made in (found, *_differences(found))]


def _differences(found: Chart) -> Iterator[Chart]:
    """Yield how far the lines of a chart are from its baseline: what is too small to be seen in
    it.
    """
    accepted = [one for one in found.lines if one.colour == BASELINE]
    if not accepted:
        return
    known = dict(zip(accepted[0].x, accepted[0].y, strict=True))
    others = [one for one in found.lines if one.colour != BASELINE]
    far = [replace(one, y=_relative(one, known)) for one in others]
    lines = tuple(one for one in far if any(y is not None for y in one.y))
    if lines:
        name = f"{found.name}: relative difference from the baseline"
        yield Chart(name=name, axis=found.axis, lines=lines, note=_EQUAL)


_EQUAL = "Values that are equal are left out."


def _relative(one: Line, known: Mapping[float, float | None]) -> Values:
    """Return the relative difference at each place; None where the values are equal, or one is
    missing.
    """
    pairs = ((y, known.get(x)) for x, y in zip(one.x, one.y, strict=True))
    return tuple(_apart(y, base) for y, base in pairs)


def _apart(value: float | None, base: float | None) -> float | None:
    if value is None or base is None or value == base:
        return None
    return abs(value - base) / (abs(base) or 1.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    """Checks with the same curves. `series`: of the lowest rank, by name."""

    checks: list[TargetCheck]
    series: dict[str, Series]


def _groups(checks: Iterable[TargetCheck]) -> list[_Group]:
    """Return checks by their curves, the newest group first."""
    found: dict[bytes, list[TargetCheck]] = {}
    for check in checks:
        if check.curves:
            found.setdefault(check.curves, []).append(check)
    groups = [_Group(checks=same, series=_unpacked(packed)) for packed, same in found.items()]
    return sorted(groups, key=lambda group: group.checks[-1].night, reverse=True)


def _unpacked(packed: bytes) -> dict[str, Series]:
    """Return the series of the lowest rank, by name."""
    if not packed:
        return {}
    found = sorted(unpack(packed), key=lambda one: one.rank)
    return {one.series.name: one.series for one in reversed(found)}


def _chart(name: str, groups: Sequence[_Group], accepted: dict[str, Series], called: str) -> Chart:
    """Return one series: its different curves, the newest ones in their colours, and the
    baseline.
    """
    by_values: dict[bytes, list[_Group]] = {}
    for group in groups:
        if name in group.series:
            by_values.setdefault(group.series[name].numbers.values.tobytes(), []).append(group)
    different = list(by_values.values())
    lines = [
        _line(_label(same), colour, same[0].series[name])
        for colour, same in enumerate(different[:MOST_LINES], start=1)
    ]
    if name in accepted:
        lines.append(_line(called, BASELINE, accepted[name]))
    return Chart(
        name=name, axis=_axis(groups, name), lines=tuple(lines), note=_note(name, different, groups)
    )


def _label(same: Sequence[_Group]) -> str:
    """`3 nights, the last 2026-12-13`."""
    nights = [check for group in same for check in group.checks]
    last = max(nights, key=lambda check: check.started)
    day = words.moment(last.started)[:10]
    if len(nights) == 1:
        return day
    return f"{count(len(nights), 'check')}, the last {day}"


def _axis(groups: Sequence[_Group], name: str) -> str:
    """Return what the horizontal axis counts."""
    newest = next((group.series[name] for group in groups if name in group.series), None)
    if newest is None or newest.step(1) is None:
        return "iteration"
    return "step"


def _note(name: str, different: Sequence[object], groups: Sequence[_Group]) -> str:
    more = len(different) - MOST_LINES
    longest = max((len(group.series.get(name, Series(name=name))) for group in groups), default=0)
    said = []
    if more > 0:
        said.append(f"{count(more, 'older curve')} not drawn.")
    if longest > MOST_POINTS:
        said.append(f"One of {_stride(longest)} values is drawn.")
    return " ".join(said)


def _line(label: str, colour: int, series: Series) -> Line:
    numbers = range(1, len(series) + 1, _stride(len(series)))
    return Line(
        label=label,
        colour=colour,
        x=tuple(_place(series, number) for number in numbers),
        y=tuple(_finite(series.value(number)) for number in numbers),
    )


def _stride(length: int) -> int:
    return max(1, math.ceil(length / MOST_POINTS))


def _place(series: Series, number: int) -> float:
    step = series.step(number)
    if step is None:
        return float(series.iterations[number - 1])
    return step


def _finite(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return value


def data(chart: Chart) -> dict[str, object]:
    """Return what site.js draws: one axis for all lines, with null where a line has no value."""
    axis = sorted({x for one in chart.lines for x in one.x})
    return {
        "axis": chart.axis,
        "log": chart.logarithmic,
        "x": axis,
        "lines": [
            {"label": one.label, "colour": one.colour, "values": _on(axis, one)}
            for one in chart.lines
        ],
    }


def _on(axis: Iterable[float], one: Line) -> list[float | None]:
    known = dict(zip(one.x, one.y, strict=True))
    return [known.get(x) for x in axis]


WIDTH, HEIGHT = 920, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 14, 12, 34


def svg(chart: Chart) -> str:
    """Return the chart without JavaScript; colours come from the style sheet."""
    title = f"{line(chart.name)} over its {chart.axis}s"
    head = (
        f'<svg class="chart-static" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escape(title)}">'
    )
    if not chart.values:
        return f'{head}<text x="{WIDTH // 2}" y="{HEIGHT // 2}">no finite value</text></svg>'
    frame = _Frame.around(chart)
    parts = (*_rules(frame), *_axis_of(chart, frame), *_drawn(chart, frame))
    return f"{head}{''.join(parts)}</svg>"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Frame:
    """From values to places in the drawing."""

    x: tuple[float, float]
    y: tuple[float, float]
    log: bool

    @classmethod
    def around(cls, chart: Chart) -> _Frame:
        log = chart.logarithmic
        places = [x for one in chart.lines for x in one.x]
        low, high = min(chart.values), max(chart.values)
        if log:
            low, high = math.log10(low), math.log10(high)
        room = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
        return cls(x=(min(places), max(places)), y=(low - room, high + room), log=log)

    def across(self, x: float) -> float:
        first, last = self.x
        share = (x - first) / ((last - first) or 1.0)
        return round(_LEFT + share * (WIDTH - _LEFT - _RIGHT), 1)

    def up(self, y: float) -> float:
        if self.log:
            y = math.log10(y)
        low, high = self.y
        share = (y - low) / (high - low)
        return round(HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM), 1)


def _rules(frame: _Frame) -> Iterator[str]:
    """Horizontal lines with their values."""
    for value in _values_of_rules(frame):
        y = frame.up(value)
        yield f'<path class="rule" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>'
        yield f'<text class="value" x="{_LEFT - 8}" y="{y + 4}">{value:.5g}</text>'


def _values_of_rules(frame: _Frame) -> list[float]:
    low, high = frame.y
    if frame.log:
        return [10.0**power for power in range(math.ceil(low), math.floor(high) + 1)]
    return ticks(low, high, 5)


def ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers from `low` to `high`: steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _axis_of(chart: Chart, frame: _Frame) -> Iterator[str]:
    first, last = frame.x
    places = [first]
    if last > first:
        places = [x for x in ticks(first, last, 8) if x == int(x)]
    for x in places:
        yield f'<text class="place" x="{frame.across(x)}" y="{HEIGHT - 16}">{x:,.0f}</text>'
    yield f'<text class="place" x="{WIDTH // 2}" y="{HEIGHT - 1}">{chart.axis}</text>'


def _drawn(chart: Chart, frame: _Frame) -> Iterator[str]:
    """Yield the lines, the newest night on top of the older ones."""
    for one in reversed(chart.lines):
        yield f'<path class="line line-{one.colour}" d="{_path(one, frame)}"/>'


def _path(one: Line, frame: _Frame) -> str:
    """Return the line, interrupted where a value is not finite; a single value is a dot."""
    pieces = []
    pen = "M"
    for x, y in zip(one.x, one.y, strict=True):
        if y is None:
            pen = "M"
            continue
        pieces.append(f"{pen}{frame.across(x)} {frame.up(y)}")
        pen = "L"
    return "".join(pieces) + "h.1"
