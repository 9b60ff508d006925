"""The last nights of all targets, as the overview has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from reprocheck.suite.model import Night, OverviewRow


class Past:
    """Nights, oldest first, and what became of each target in each of them."""

    def __init__(self, nights: Sequence[Night], rows: Iterable[OverviewRow]) -> None:
        self.nights = tuple(nights)
        self._by_target: dict[str, dict[str, OverviewRow]] = defaultdict(dict)
        self._by_night: dict[str, list[OverviewRow]] = defaultdict(list)
        for row in rows:
            self._by_target[row.target][row.night] = row
            self._by_night[row.night].append(row)

    @property
    def targets(self) -> tuple[str, ...]:
        """All targets of these nights, by name."""
        return tuple(sorted(self._by_target))

    def of(self, target: str) -> tuple[OverviewRow | None, ...]:
        """Return a target in each night; None where it was not there."""
        found = self._by_target.get(target, {})
        return tuple(found.get(night.id) for night in self.nights)

    def known(self, target: str) -> tuple[OverviewRow, ...]:
        """Return a target in the nights that have it."""
        return tuple(row for row in self.of(target) if row is not None)

    def during(self, night: Night) -> tuple[OverviewRow, ...]:
        """Return all targets of a night."""
        return tuple(self._by_night.get(night.id, ()))

    def beside(self, night: Night) -> tuple[Night | None, Night | None]:
        """Return the nights before and after one; None where there is none."""
        place = [shown.id for shown in self.nights].index(night.id)
        around = (None, *self.nights, None)
        return around[place], around[place + 2]
