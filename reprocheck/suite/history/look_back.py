"""What a night asks of the nights before it, for all targets at once.

Neither targets nor nights raise the number of queries. It answers as a history does, of one night.
The last nights are one range of the primary key of the checks. A target that some of them did not
check has older rows, which the index of targets finds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, cast

import msgspec
from sqlalchemy import Select, select, tuple_

from reprocheck.suite.baselines.accepted import AcceptedBaselines
from reprocheck.suite.history import rows
from reprocheck.suite.history.by_target import ByTarget
from reprocheck.suite.history.store import PLACES, History, last_of_targets
from reprocheck.suite.history.tables import checks, curves
from reprocheck.suite.model import Baseline, Key, Night, TargetCheck, TargetState


class PastCheck(msgspec.Struct, array_like=True, gc=False):
    """Hold what the states of a later night ask of a check; the fields are those of a TargetCheck.

    A look back over 1,000 targets and 260 nights makes a quarter of a million in 0.1 s of CPU. As
    TargetChecks they would take 2 s. `key` and `beside` are read as digests, `measures` as text,
    and then replaced.
    """

    night: str
    target: str
    attempt: int
    started: rows.Time
    seconds: rows.Time
    verdict: str
    failed_check: str
    exit_code: int
    first_divergence: int | None
    good: bool
    commit: str
    files: str
    key: Any
    beside: Any
    measures: Any
    curves: bytes | None = b""

    title = TargetCheck.title


class StoredMeasures(Mapping[str, float]):
    """Measures that are decoded once somebody asks for them."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __getitem__(self, name: str) -> float:
        return _MEASURES.decode(self._text)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MEASURES.decode(self._text))

    def __len__(self) -> int:
        return len(_MEASURES.decode(self._text))


_MEASURES: msgspec.json.Decoder[dict[str, float]] = msgspec.json.Decoder(dict[str, float])


class StoredFacts(Mapping[str, str]):
    """Facts of an environment that are read once somebody asks for them.

    Of most checks it is asked only whether they are those of another one, which their digest says.
    """

    def __init__(self, digest: str, read: Callable[[str], Mapping[str, str]]) -> None:
        self.digest = digest
        self._read = read

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredFacts):
            return self.digest == other.digest
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self.digest != _NO_FACTS

    def __getitem__(self, name: str) -> str:
        return self._read(self.digest)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read(self.digest))

    def __len__(self) -> int:
        return len(self._read(self.digest))


_NO_FACTS = Key(facts={}).digest
_COLUMNS = tuple(checks.c[name] for name in PastCheck.__struct_fields__ if name != "curves")


class LookBack:
    """Answer what is asked of a history on the nights before `night`.

    last  so many nights with a check of each target are looked at, the newest
    """

    def __init__(self, history: History, night: Night, last: int) -> None:
        self._history = history
        self._night = night
        self._last = last
        self._nights = history.nights()
        self._baselines = history.baselines()
        self._accepted = AcceptedBaselines(self._baselines)
        self._of_nights: dict[str, tuple[TargetCheck, ...]] = {}
        self._facts: dict[str, StoredFacts] = {}
        self._keys: dict[str, Key] = {}

    def nights(self, last: int | None = None) -> tuple[Night, ...]:
        """Return the nights, oldest first."""
        return self._nights if last is None else self._nights[-last:]

    def baseline(self, target: str, key: Key) -> Baseline | None:
        """Return the baseline that counts for a target and environment key."""
        return self._accepted.baseline(target, key)

    def baselines(self, target: str | None = None) -> tuple[Baseline, ...]:
        """Return the baselines of a target, or all, newest first."""
        return self._baselines if target is None else self._accepted.of(target)

    def checks(
        self,
        night: str | None = None,
        target: str | None = None,
        last: int | None = None,
        *,
        curves: bool = False,
    ) -> tuple[TargetCheck, ...]:
        """Return the checks of a night with their curves; else those of a target before the night.

        curves  also read the curves of the latter, if the training is known to vary
        """
        if night is not None:
            if night not in self._of_nights:
                self._of_nights[night] = self._history.checks(night=night, curves=True)
            of_night = self._of_nights[night]
            return tuple(check for check in of_night if target in (None, check.target))
        name = target or ""
        found = self._with_curves.of(name) if curves else self._checks.get(name, ())
        return cast("tuple[TargetCheck, ...]", tuple(found))

    def states(
        self, night: str | None = None, target: str | None = None, last: int | None = None
    ) -> tuple[TargetState, ...]:
        """Return the states in a night that are the newest of their targets, or those of a target.

        The latter are its newest one before the night, behind those that failed if its training is
        known to vary.
        """
        if night is not None:
            return tuple(state for state in self._newest.values() if state.night == night)
        newest = self._newest.get(target or "")
        if newest is None:
            return ()
        return (*self._failed_of_varying.get(newest.target, ()), newest)

    def last_pass(self, target: str) -> TargetCheck | None:
        """Return the last check before the night that passed, of a target without a baseline.

        It has its curves. None if none passed, or the target has a baseline.
        """
        return cast("TargetCheck | None", self._last_passes.get(target))

    @cached_property
    def _last_passes(self) -> dict[str, PastCheck]:
        places = []
        for target, several in self._checks.items():
            passes = [check.night for check in several if check.good and check.attempt == 1]
            if passes and not self._accepted.of(target):
                places.append((passes[-1], target))
        found: dict[str, PastCheck] = {}
        for start in range(0, len(places), PLACES):
            place = tuple_(checks.c.night, checks.c.target)
            query = (
                select(*_COLUMNS, curves.c.packed)
                .join(curves, checks.c.curves == curves.c.digest)
                .where(place.in_(places[start : start + PLACES]), checks.c.attempt == 1)
            )
            found.update((check.target, check) for check in self._read(query))
        return found

    @cached_property
    def _newest(self) -> dict[str, TargetState]:
        return self._history.last_states(before=self._night.id)

    @cached_property
    def _varying(self) -> frozenset[str]:
        return frozenset(one.target for one in self._baselines if not one.bitwise)

    @cached_property
    def _failed_of_varying(self) -> dict[str, list[TargetState]]:
        before = self._night.id
        return self._history.failures_of(self._varying, self._last, before=before)

    @cached_property
    def _checks(self) -> dict[str, list[PastCheck]]:
        """The last checks of each target, oldest first."""
        found: dict[str, list[PastCheck]] = defaultdict(list)
        before = [one.id for one in self._nights if one.id < self._night.id]
        if not before:
            return found
        start = before[-self._last :][0]
        nights = (checks.c.night >= start, checks.c.night < self._night.id)
        order = (checks.c.night, checks.c.target, checks.c.attempt)
        for check in self._read(select(*_COLUMNS).where(*nights).order_by(*order)):
            found[check.target].append(check)
        names = {*self._night.targets, *self._night.selected, *found}
        rare = [name for name in names if len(found[name]) < self._last]
        if start != before[0] and rare:
            older: dict[str, list[PastCheck]] = defaultdict(list)
            for check in self._read(
                last_of_targets(checks, _COLUMNS, rare, self._last, before=start)
            ):
                older[check.target].append(check)
            for name, several in older.items():
                found[name] = [*several, *found[name]]
        return found

    @cached_property
    def _with_curves(self) -> ByTarget[PastCheck]:
        columns = (*_COLUMNS, curves.c.packed)
        query = last_of_targets(checks, columns, self._varying, self._last, before=self._night.id)
        joined = query.join(curves, checks.c.curves == curves.c.digest)
        return ByTarget(self._read(joined))

    def _read(self, query: Select[Any]) -> Iterator[PastCheck]:
        for row in self._history.rows_as(PastCheck, query):
            row.key, row.beside = self._key(row.key), self._facts_of(row.beside)
            row.measures = StoredMeasures(row.measures)
            yield row

    def _facts_of(self, digest: str) -> StoredFacts:
        if digest not in self._facts:
            self._facts[digest] = StoredFacts(digest, self._read_facts)
        return self._facts[digest]

    def _read_facts(self, digest: str) -> Mapping[str, str]:
        return self._history.facts_of(digest, beside=self._compared)

    def _compared(self) -> Iterator[str]:
        """Yield the digests of the facts that are likely to be compared.

        They are those of the last two checks of each target, and where its verdict changed.
        """
        for several in self._checks.values():
            pairs = [*pairwise(several)]
            changes = [pair for pair in pairs if pair[0].good is not pair[1].good]
            for one, other in (*changes, *pairs[-1:]):
                for check in (one, other):
                    yield check.key.facts.digest
                    yield check.beside.digest

    def _key(self, digest: str) -> Key:
        if digest not in self._keys:
            self._keys[digest] = Key.stored(self._facts_of(digest), digest)
        return self._keys[digest]
