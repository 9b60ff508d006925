"""The baselines of a suite in a file of its repository: one entry a target and environment key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from reprocheck.report.text import ulps
from reprocheck.suite.baselines import document
from reprocheck.suite.baselines.document import Entry, Replaced
from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.model import Baseline, Difference, Key

MOST_DIFFERENCES = 20
"""Series of which an entry says how they differ from those that it replaces."""


class BaselineFile:
    """Read and write the file. Entries that are not replaced stay as they are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[bytes | None, tuple[Baseline, ...]] = None, ()

    def read(self) -> tuple[Baseline, ...]:
        """Return the baselines in the file; none if there is no file. Raises BaselineError."""
        content = self._content()
        if content != self._read[0]:  # a night reads it several times
            found = self._entries(content)
            baselines = tuple(document.baseline_of(one, str(self.path)) for one in found)
            self._read = content, baselines
        return self._read[1]

    def put(self, several: Iterable[Baseline]) -> None:
        """Add baselines, each in the place of the entry of its target and key."""
        found = {_place(one): one for one in self._entries(self._content())}
        for baseline in several:
            # the facts beside the key are in the history
            entry = document.entry_of(replace(baseline, environment={}))
            before = found.get(_place(entry)) or _newest(entry.target, found.values())
            if before is not None:
                entry = _with_replaced(entry, before, baseline.replaced)
            found[_place(entry)] = entry
        self._write(found.values())

    def remove(self, target: str, key: Key | None = None) -> None:
        """Remove the entries of a target, of one environment key or of all."""
        found = self._entries(self._content())
        going = [
            one
            for one in found
            if one.target == target and (key is None or _place(one) == (target, key.digest))
        ]
        if going:
            self._write(one for one in found if one not in going)

    def _entries(self, content: bytes | None) -> tuple[Entry, ...]:
        return () if content is None else document.entries(content, str(self.path))

    def _content(self) -> bytes | None:
        """Return the content of the file; None if there is no file."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BaselineError(
                f"{self.path} cannot be read: {error.strerror}.", "Name another file of baselines."
            ) from None

    def _write(self, entries: Iterable[Entry]) -> None:
        content = document.content_of(sorted(entries, key=_place))
        document.write(content, self.path)


def _with_replaced(entry: Entry, before: Entry, differences: Sequence[Difference]) -> Entry:
    replaces = Replaced(
        night=before.night,
        when=before.when,
        who=before.who,
        why=before.why,
        differences=tuple(map(_said, differences[:MOST_DIFFERENCES])),
    )
    return msgspec.structs.replace(entry, replaces=replaces)


def _said(difference: Difference) -> str:
    """Return a difference on one line: `loss at 3: 0.25 → 0.125, 8.4e+06 ULP, 0.5 relative`."""
    name = difference.series
    if difference.rank:
        name = f"{name} of rank {difference.rank}"
    if difference.new or difference.missing:
        return f"{name}: {'new' if difference.new else 'missing'}"
    parts = [f"{name} at {difference.step:.15g}: {difference.other} → {difference.value}"]
    if difference.ulp is not None:
        parts.append(f"{ulps(difference.ulp)} ULP")
    return ", ".join((*parts, f"{difference.relative:.2g} relative"))


def _place(entry: Entry) -> tuple[str, str]:
    return entry.target, Key(facts=entry.key).digest


def _newest(target: str, entries: Iterable[Entry]) -> Entry | None:
    of_target = (one for one in entries if one.target == target)
    return max(of_target, key=lambda one: one.when, default=None)


def joined(in_file: Iterable[Baseline], recorded: Iterable[Baseline]) -> tuple[Baseline, ...]:
    """Return the baselines of a file with what the history knows of them.

    They are in order of target, newest first; behind those of a target follow those of the same
    keys that they have replaced.
    """
    rows: dict[tuple[str, str], list[Baseline]] = defaultdict(list)
    for row in recorded:
        rows[row.target, row.key.digest].append(row)
    found: dict[str, list[Baseline]] = defaultdict(list)
    for baseline in sorted(in_file, key=lambda one: (one.target, -one.when)):
        of_key = rows[baseline.target, baseline.key.digest]
        same = next((row for row in of_key if row.curves == baseline.curves), None)
        if same is not None:
            baseline = replace(
                baseline,
                environment=same.environment,
                replaced=same.replaced,
                recording=same.recording,
            )
        found[baseline.target].append(baseline)
    for target, several in found.items():
        earlier = (row for one in tuple(several) for row in rows[target, one.key.digest])
        kept = {(one.key.digest, one.curves) for one in several}
        several += [row for row in earlier if (row.key.digest, row.curves) not in kept]
    return tuple(one for several in found.values() for one in several)
