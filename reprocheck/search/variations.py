"""The search for the variation that makes a varied run differ.

It says which trial to make next, and what the trials say. All is derived from the recorded runs, so
a report says the same whenever it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from reprocheck.model import Check, Run, SourceLine, Touch, Trial
from reprocheck.model.variations import Guilty, Tried, Variations
from reprocheck.settings.variations import table
from reprocheck.trace import read_run
from reprocheck.verdict import judge, paired

MOST_GUILTY = 4
"""Variations that are found one after the other; more are not looked for."""
REACHES: Mapping[str, tuple[str, ...]] = {
    "files and arguments": ("path", "tmpdir", "home"),
    "initial weights": ("memory", "clock", "hostname", "user"),
    "batch": ("file-order", "arrival", "hash-seed", "locale"),
}
"""Rung -> the variations that most often reach it first."""


class _TrialWantedError(Exception):
    """A trial that the search needs and that was not made yet."""

    def __init__(self, varied: tuple[str, ...]) -> None:
        super().__init__(varied)
        self.varied = varied


def variations_of(check: Check, folder: Path) -> Variations | None:
    """Return what the runs of a check were varied by, and what its trials say.

    None if nothing was varied.
    """
    varied = [run.record for run in check.runs if run.record.varied]
    made = varied[0].varied if varied else ()
    left_out = check.record.not_varied
    if not made and not left_out:
        return None
    trials = tuple(_read(trial, check, folder) for trial in check.record.trials)
    found = Variations(
        made=made,
        runs=tuple(run.number for run in varied),
        seed=check.record.vary_seed,
        run=check.differing_run.record.point if varied else 0,
        left_out=left_out,
        tried=tuple(one.tried for one in trials),
    )
    if not made or not _is_bad(check):
        return found
    return _Search(check, trials).conclusion(found)


def _is_bad(check: Check) -> bool:
    """Return whether the varied run differs from run 1, or failed where that did not."""
    return check.verdict.verdict == "not_reproducible" or _broke(check.runs)


def _broke(runs: Sequence[Run]) -> bool:
    first, *others = runs
    return not first.record.ended_badly and any(run.record.ended_badly for run in others)


@dataclass(frozen=True, slots=True)
class _Read:
    tried: Tried
    run: Run


def _read(trial: Trial, check: Check, folder: Path) -> _Read:
    own = [read_run(folder, run) for run in trial.runs]
    runs = own
    if len(own) == 1:
        runs = [check.runs[0], *(replace(run, record=replace(run.record, number=2)) for run in own)]
    return _Read(
        tried=Tried(varied=trial.varied, agrees=_agree(check, runs), broke=_broke(runs)),
        run=own[-1],
    )


def _agree(check: Check, runs: Sequence[Run]) -> bool | None:
    """Return whether runs agree by the criterion of the check; None if that is undecided."""
    if len(runs) < 2:
        return None
    record = check.record
    verdict = judge(paired(runs, record.tolerance), record.tolerance, fail_on=record.fail_on)
    if verdict.verdict == "not_reproducible" or verdict.exit_code == 1:
        return False
    if verdict.verdict == "reproducible":
        return True
    return None


class _Search:
    """The search, from what the trials of a check say."""

    def __init__(self, check: Check, trials: Sequence[_Read]) -> None:
        self.check = check
        self.trials = {frozenset(one.tried.varied): one for one in trials}
        self.plain = [one.tried for one in trials if not one.tried.varied]
        self.varied_run = check.differing_run
        self.guilty: list[str] = []
        self.blamed = {cause.source.at for cause in check.causes if cause.source is not None}

    def conclusion(self, found: Variations) -> Variations:
        """Return what is known, and the trial that is wanted next."""
        if not self.plain:
            return replace(found, wanted=())
        agree = all(plain.agrees for plain in self.plain)
        found = replace(found, plain=agree)
        if not agree:
            return found
        rest: bool | None = None
        among: tuple[str, ...] = ()
        wanted: tuple[str, ...] | None = None
        try:
            rest, among = self._search(found.made)
        except _TrialWantedError as missing:
            wanted = missing.varied
        guilty = tuple(map(self._named, self.guilty))
        return replace(found, guilty=guilty, among=among, rest=rest, wanted=wanted)

    def _search(self, made: tuple[str, ...]) -> tuple[bool | None, tuple[str, ...]]:
        """Return whether the runs agree with all but the guilty variations.

        The second value are those among which no guilty one was found.
        """
        pool = self._by_suspicion(made)
        while len(self.guilty) < MOST_GUILTY:
            name = self._one_of(pool)
            if name is None:
                return False, tuple(pool)
            self.guilty.append(name)
            pool = [other for other in pool if other != name]
            if not pool:
                return None, ()
            bad = self._is_bad(pool)
            if not bad:
                return (None if bad is None else True), ()
            # an hour may have passed since run 1, so that runs differ from it without variations
            if len(self.plain) < 2:
                raise _TrialWantedError(())
        return False, ()

    def _one_of(self, pool: Sequence[str]) -> str | None:
        """Return a variation that makes the difference alone; None if there is none.

        All of `pool` together make it. The one that is suspected most is tried alone if the script
        was seen to come to it; the others are halved.
        """
        rest = list(pool)
        if any(_touches(self.varied_run, pool[0])):
            if self._is_bad(pool[:1]):
                return pool[0]
            rest = rest[1:]
        while len(rest) > 1:
            half = rest[: (len(rest) + 1) // 2]
            rest = half if self._is_bad(half) else rest[len(half) :]
        if rest and self._is_bad(rest):
            return rest[0]
        return None

    def _is_bad(self, names: Sequence[str]) -> bool | None:
        """Return whether a run with these variations differs from run 1 or fails.

        None if that could not be decided.
        """
        trial = self.trials.get(frozenset(names))
        if trial is None:
            raise _TrialWantedError(tuple(names))
        if trial.tried.broke:
            return True
        return None if trial.tried.agrees is None else not trial.tried.agrees

    def _by_suspicion(self, made: Sequence[str]) -> list[str]:
        """Return the variations, those first that the script was seen to come to."""
        reaching = REACHES.get(self.check.ladder.first or "", ()) if self.check.ladder else ()
        observed = {row.name for row in table() if row.seen}

        def key(name: str) -> tuple[bool, bool, bool, bool]:
            touches = list(_touches(self.varied_run, name))
            lines = chain.from_iterable(map(_lines, touches))
            at_cause = any(line.at in self.blamed for line in lines)
            return (not at_cause, not touches, name not in reaching, name in observed)

        return sorted(made, key=key)

    def _named(self, name: str) -> Guilty:
        """Return a guilty variation with the line at which the script came to it."""
        alone = self.trials.get(frozenset([name]))
        runs = [self.varied_run] if alone is None else [alone.run, self.varied_run]
        touches = list(chain.from_iterable(_touches(run, name) for run in runs))
        lines = [(touch.what, line) for touch in touches for line in _lines(touch)]
        lines.sort(key=lambda pair: pair[1].at not in self.blamed)
        if not lines:
            return Guilty(name=name, what=touches[0].what if touches else "")
        what, source = lines[0]
        return Guilty(name=name, what=what, source=source)


def _touches(run: Run, name: str) -> Iterator[Touch]:
    return (touch for touch in run.controls.touches if touch.control == name)


def _lines(touch: Touch) -> Iterator[SourceLine]:
    for line in touch.lines:
        yield line.source
    if not touch.lines and touch.source is not None:
        yield touch.source
