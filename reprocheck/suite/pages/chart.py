"""Curves of nights over each other: what is drawn, as SVG and as data for the live chart.

Nights whose values are equal in every bit are one line; so the chart shows at a glance how many
different curves there are, and since when.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
    """Hold values that one or more nights share.

    `x`: their iterations or steps, same length as `y`.
    """

    label: str
    colour: int
    x: tuple[float, ...]
    y: Values


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """Describe the chart of one series of a target. `note`: says what is not drawn."""

    name: str
    axis: str
    lines: tuple[Line, ...]
    note: str = ""

    @property
    def values(self) -> list[float]:
        """Yield all values that are drawn."""
        return [y for one in self.lines for y in one.y if y is not None]

    @property
    def logarithmic(self) -> bool:
        """Return whether all values are positive and span more than three decades."""
        return bool(self.values) and 0 < min(self.values) * _DECADES < max(self.values)


def charts(checks: Sequence[TargetCheck], baseline: bytes, called: str) -> list[Chart]:
    """Return a chart for each series, the loss first, and one of the differences from the baseline.

    checks    the checks with their curves, oldest first
    baseline  the packed curves of the baseline, empty if there is none
    called    the name of the baseline in the chart
    """
    by_curves: dict[bytes, list[TargetCheck]] = {}
    for check in checks:
        if check.curves:
            by_curves.setdefault(check.curves, []).append(check)
    groups = [_Group(checks=same, series=_unpacked(packed)) for packed, same in by_curves.items()]
    groups.sort(key=lambda group: group.checks[-1].night, reverse=True)
    accepted = _unpacked(baseline)
    names = dict.fromkeys(chain.from_iterable((*(group.series for group in groups), accepted)))
    ordered = sorted(names, key=lambda name: name != LOSS_SERIES)
    drawn = [_chart(name, groups, accepted, called) for name in ordered[:MOST_SERIES]]
    return [made for found in drawn for made in (found, *_differences(found))]


def _differences(chart: Chart) -> Iterator[Chart]:
    """Yield the differences of a chart's lines from its baseline.

    They are too small to be seen in the chart itself.
    """
    accepted = [one for one in chart.lines if one.colour == BASELINE]
    if not accepted:
        return
    known = dict(zip(accepted[0].x, accepted[0].y, strict=True))
    others = [one for one in chart.lines if one.colour != BASELINE]
    far = [replace(other_line, y=_relative(other_line, known)) for other_line in others]
    lines = tuple(one for one in far if any(y is not None for y in one.y))
    if lines:
        name = f"{chart.name}: relative difference from the baseline"
        note = "Values that are equal are left out."
        yield Chart(name=name, axis=chart.axis, lines=lines, note=note)


def _relative(one: Line, known: Mapping[float, float | None]) -> Values:
    """Return the relative difference at each place.

    None if the values are equal, or one is missing.
    """
    differences: list[float | None] = []
    for x, value in zip(one.x, one.y, strict=True):
        base = known.get(x)
        if value is None or base is None or value == base:
            differences.append(None)
        else:
            differences.append(abs(value - base) / (abs(base) or 1.0))
    return tuple(differences)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    """Group checks that have the same curves. `series`: the series of the lowest rank, by name."""

    checks: list[TargetCheck]
    series: dict[str, Series]


def _unpacked(packed: bytes) -> dict[str, Series]:
    """Return the series of the lowest rank, by name."""
    if not packed:
        return {}
    found = sorted(unpack(packed), key=lambda one: one.rank)
    return {one.series.name: one.series for one in reversed(found)}


def _chart(name: str, groups: Sequence[_Group], accepted: dict[str, Series], called: str) -> Chart:
    """Return the chart of one series.

    It has the different curves, the newest ones in their colours, and the baseline.
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
    # the newest night says what the horizontal axis counts
    newest = next((group.series[name] for group in groups if name in group.series), None)
    has_steps = newest is not None and newest.step(1) is not None
    notes = []
    if len(different) > MOST_LINES:
        notes.append(f"{count(len(different) - MOST_LINES, 'older curve')} not drawn.")
    longest = max((len(group.series.get(name, Series(name=name))) for group in groups), default=0)
    if longest > MOST_POINTS:
        notes.append(f"One of {_stride(longest)} values is drawn.")
    return Chart(
        name=name,
        axis="step" if has_steps else "iteration",
        lines=tuple(lines),
        note=" ".join(notes),
    )


def _label(same: Sequence[_Group]) -> str:
    """Format the label of a line: `3 nights, the last 2026-12-13`."""
    nights = [check for group in same for check in group.checks]
    last = max(nights, key=lambda check: check.started)
    day = words.moment(last.started)[:10]
    if len(nights) == 1:
        return day
    return f"{count(len(nights), 'check')}, the last {day}"


def _line(label: str, colour: int, series: Series) -> Line:
    places: list[float] = []
    values: list[float | None] = []
    for number in range(1, len(series) + 1, _stride(len(series))):
        step, value = series.step(number), series.value(number)
        places.append(float(series.iterations[number - 1]) if step is None else step)
        is_finite = value is not None and math.isfinite(value)
        values.append(value if is_finite else None)
    return Line(label=label, colour=colour, x=tuple(places), y=tuple(values))


def _stride(length: int) -> int:
    return max(1, math.ceil(length / MOST_POINTS))


def data(chart: Chart) -> dict[str, object]:
    """Return the data that site.js draws.

    It is one axis for all lines, with null if a line has no value.
    """
    axis = sorted({x for one in chart.lines for x in one.x})
    lines = []
    for one in chart.lines:
        known = dict(zip(one.x, one.y, strict=True))
        values = [known.get(x) for x in axis]
        lines.append({"label": one.label, "colour": one.colour, "values": values})
    return {"axis": chart.axis, "log": chart.logarithmic, "x": axis, "lines": lines}


WIDTH, HEIGHT = 920, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 14, 12, 34


def svg(chart: Chart) -> str:
    """Draw the chart as SVG without JavaScript; its colours come from the style sheet."""
    title = f"{line(chart.name)} over its {chart.axis}s"
    head = (
        f'<svg class="chart-static" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escape(title)}">'
    )
    if not chart.values:
        return f'{head}<text x="{WIDTH // 2}" y="{HEIGHT // 2}">no finite value</text></svg>'
    frame = _Frame.around(chart)
    # the newest night on top of the older ones
    lines = (
        f'<path class="line line-{one.colour}" d="{_path(one, frame)}"/>'
        for one in reversed(chart.lines)
    )
    return f"{head}{''.join((*_rules(frame), *_axis_of(chart, frame), *lines))}</svg>"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Frame:
    """Convert values to coordinates in the drawing."""

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
    """Yield horizontal grid lines with their values."""
    low, high = frame.y
    values = ticks(low, high, 5)
    if frame.log:
        values = [10.0**power for power in range(math.ceil(low), math.floor(high) + 1)]
    for value in values:
        y = frame.up(value)
        yield f'<path class="rule" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>'
        yield f'<text class="value" x="{_LEFT - 8}" y="{y + 4}">{value:.5g}</text>'


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers from `low` to `high`: steps of 1, 2 or 5 times a power of ten."""
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


def _path(one: Line, frame: _Frame) -> str:
    """Draw a line as SVG, interrupted at values that are not finite; a single value is a dot."""
    pieces = []
    pen = "M"
    for x, y in zip(one.x, one.y, strict=True):
        if y is None:
            pen = "M"
            continue
        pieces.append(f"{pen}{frame.across(x)} {frame.up(y)}")
        pen = "L"
    return "".join(pieces) + "h.1"
