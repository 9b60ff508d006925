"""The last nights of all targets, as the overview has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from reprocheck.suite.model import Night, OverviewRow


class Past:
    """Hold nights, oldest first, and each target's result in each night."""

    def __init__(self, nights: Sequence[Night], rows: Iterable[OverviewRow]) -> None:
        self.nights = tuple(nights)
        self._by_target: dict[str, dict[str, OverviewRow]] = defaultdict(dict)
        self._by_night: dict[str, list[OverviewRow]] = defaultdict(list)
        for row in rows:
            self._by_target[row.target][row.night] = row
            self._by_night[row.night].append(row)

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the names of all targets of these nights, sorted."""
        return tuple(sorted(self._by_target))

    def of(self, target: str) -> tuple[OverviewRow | None, ...]:
        """Return a target's result in each night; None for a night without the target."""
        found = self._by_target.get(target, {})
        return tuple(found.get(night.id) for night in self.nights)

    def known(self, target: str) -> tuple[OverviewRow, ...]:
        """Return a target's results in the nights that have the target."""
        return tuple(row for row in self.of(target) if row is not None)

    def during(self, night: Night) -> tuple[OverviewRow, ...]:
        """Return the results of all targets in a night."""
        return tuple(self._by_night.get(night.id, ()))

    def beside(self, night: Night) -> tuple[Night | None, Night | None]:
        """Return the nights before and after a night; None if there is none."""
        place = [shown.id for shown in self.nights].index(night.id)
        around = (None, *self.nights, None)
        return around[place], around[place + 2]
