"""Nights as small bars, in SVG: the colour is what became of a night, the height its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from reprocheck.suite.model import OverviewRow

STEP = 3
"""Units of the drawing from one night to the next."""
HEIGHT = 24
_SHORTEST, _LONGEST = 5, 17
"""Heights of good nights, by their time; a night that failed has the whole height."""
_UNSURE = ("intermittent", "moved", "slower", "larger", "known issue", "drift", "expected drift")
KINDS = {
    "good": "good",
    "bad": "failed",
    "unsure": "good with a remark",
    "none": "not checked",
}
"""What a bar stands for -> the words for it."""


def kind(row: OverviewRow | None) -> str:
    """Return a target's outcome in a night, as one of `KINDS`."""
    if row is None or not row.verdict:
        return "none"
    if row.failed:
        return "bad"
    if row.state in _UNSURE:
        return "unsure"
    return "good" if row.good else "bad"


def label(rows: Sequence[OverviewRow | None]) -> str:
    """Describe the bars in words: `60 nights: 57 good, 3 failed`."""
    found = Counter(map(kind, rows))
    said = ", ".join(f"{found[name]} {words}" for name, words in KINDS.items() if found[name])
    return f"{len(rows)} nights: {said}"


def svg(rows: Sequence[OverviewRow | None]) -> str:
    """Draw the nights of a target as SVG bars, oldest first. Colours come from the style sheet."""
    most = max((row.seconds for row in rows if row is not None), default=0.0) or 1.0
    bars: dict[str, list[str]] = {name: [] for name in KINDS}
    for place, row in enumerate(rows):
        name = kind(row)
        seconds = 0.0
        if row is not None:
            seconds = row.seconds
        bars[name].append(f"M{place * STEP + 1} {HEIGHT}v-{_HEIGHTS[name](seconds / most)}")
    paths = "".join(
        f'<path class="{name}" d="{"".join(drawn)}"/>' for name, drawn in bars.items() if drawn
    )
    width = max(1, len(rows)) * STEP
    return (
        f'<svg class="spark" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}"'
        f' role="img" aria-label="{label(rows)}">{paths}</svg>'
    )


def _by_time(share: float) -> int:
    return round(_SHORTEST + share * (_LONGEST - _SHORTEST))


_HEIGHTS: dict[str, Callable[[float], int]] = {
    "good": _by_time,
    "unsure": _by_time,
    "bad": lambda share: HEIGHT,
    "none": lambda share: 2,
}
