"""All baselines of a suite, read once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from reprocheck.suite.model import Baseline, Key, TargetCheck


class AcceptedBaselines:
    """Hold the baselines of a suite, by target, those accepted last first."""

    def __init__(self, baselines: Iterable[Baseline]) -> None:
        self._by_target: dict[str, list[Baseline]] = defaultdict(list)
        for baseline in baselines:
            self._by_target[baseline.target].append(baseline)

    def of(self, target: str) -> tuple[Baseline, ...]:
        """Return all baselines of a target."""
        return tuple(self._by_target.get(target, ()))

    def baseline(self, target: str, key: Key) -> Baseline | None:
        """Return the baseline that counts for a target and environment key; None without one."""
        of_target = self._by_target.get(target, ())
        return next((one for one in of_target if one.key.digest == key.digest), None)

    def counting(self, check: TargetCheck | None) -> Baseline | None:
        """Return the baseline that counts for a check; None if there is none."""
        return None if check is None else self.baseline(check.target, check.key)
