"""Read two traces of one rank side by side, and keep only the facts that matter.

These show the first difference on each rung.

Most facts of many ranks are equal in both runs, or follow from an earlier difference. Their lines
are skipped without being decoded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

import msgspec

from reprocheck.ladder import compare
from reprocheck.ladder.compare import Algorithms
from reprocheck.trace.deep import UNREADABLE, Again, Seen
from reprocheck.trace.deep_file import DeepFile, begun, is_blank, take, take_again
from reprocheck.trace.lines import is_whole, whole_lines

_Line = tuple[int, bytes]
"""Its offset and its text."""
_SEEN, _AGAIN = b'{"e":"seen","r":"', b'{"e":"again","r":"'
_PLACE = b',"p":"'
_WEIGHTS = b"weights"
_OF_WEIGHTS = frozenset({b"reduced", b"update"})
_MANY = frozenset({_WEIGHTS, b"call", b"outgrad", b"gradient", *_OF_WEIGHTS})
"""Kinds of which there is a fact for each module or weight; all others are kept."""
_SAYS_MORE = {b"call": b',"g2":', _WEIGHTS: b'"h":""'}
"""What stands in a fact that says something beside its values: a call that drew, a weight that
could not be read.
"""
_LONGEST_HEAD = 100
"""Bytes up to the place of a fact, where the key `r` is the first."""
_AGAIN_DECODER: msgspec.json.Decoder[Again] = msgspec.json.Decoder(Again)


@dataclass(frozen=True, kw_only=True, slots=True)
class Skimmed:
    """Two trace files with the facts that were kept.

    first   the trace of run 1
    second  the trace of run 2
    known   weights with kept facts whose first values were recorded, although the fact with these
            values may have been skipped
    """

    first: DeepFile
    second: DeepFile
    known: frozenset[str]


def skimmed(first: Path, second: Path) -> Skimmed | None:
    """Return two trace files with the facts that matter.

    Of each kind the first that differs, and all draws from generators.

    None if the runs do not record the same facts in the same order, or a file cannot be read: then
    both files must be read whole.
    """
    skim = _Skim(DeepFile(path=first), DeepFile(path=second))
    try:
        if not _read(skim):
            return None
    except (OSError, *UNREADABLE):
        return None
    if skim.first.algorithm != skim.second.algorithm:
        return None
    updated = {seen.place for seen in skim.first.seen if seen.kind.encode() in _OF_WEIGHTS}
    known = (place for place in updated if json.dumps(place)[1:-1].encode() in skim.known)
    return Skimmed(first=skim.first, second=skim.second, known=frozenset(known))


def _read(skim: _Skim) -> bool:
    """Read both files to their ends; return False if they do not record the same facts."""
    with begun(skim.first) as first, begun(skim.second) as second:
        one, other = _Source(skim.first, first), _Source(skim.second, second)
        pairs = zip_longest(one.lines, other.lines, fillvalue=b"")
        while (pair := skim.passed_over(pairs)) is not None:
            a, b = one.fact(pair[0]), other.fact(pair[1])
            if a is None or b is None:
                return a is b
            if not skim.take(a, b):
                return False
    return True


@dataclass(slots=True)
class _Source:
    """A trace file, and an iterator over its lines."""

    file: DeepFile
    stream: BinaryIO
    lines: Iterator[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = whole_lines(self.stream)

    def fact(self, line: bytes) -> _Line | None:
        """Return the fact in the given line, or else the next fact; None if no fact is left.

        Lines before that fact, which hold other events, are processed.
        """
        while line:
            at = self.stream.tell() - len(line)
            if line.startswith((_SEEN, _AGAIN)):
                return at, line
            if is_whole(line) and not is_blank(line):
                take(self.file, line, at)
            line = next(self.lines, b"")
        return None


@dataclass(slots=True)
class _Skim:
    """Two trace files while they are read.

    told    kinds of facts of which a comparable one was kept
    differ  kinds of facts of which a differing one was kept
    known   weights whose first values were recorded
    """

    first: DeepFile
    second: DeepFile
    told: set[bytes] = field(default_factory=set)
    differ: set[bytes] = field(default_factory=set)
    known: set[bytes] = field(default_factory=set)

    def passed_over(self, pairs: Iterator[tuple[bytes, bytes]]) -> tuple[bytes, bytes] | None:
        """Skip pairs of lines that hold the same fact, which need not be kept.

        Returns the first pair that is not skipped; None at the end. Decides as `take` does, but in
        fewer steps for most lines.
        """
        head = b"\0"  # no line of a fact begins with it
        for a, b in pairs:
            if not a.startswith(head):
                start = a.find(_PLACE, 0, _LONGEST_HEAD) + len(_PLACE)
                head = a[:start]
                kind = _kind(head)
                if kind not in self.told or not head.startswith(_SEEN):
                    return a, b
                may_differ = kind in self.differ
                is_of_weights = kind in _OF_WEIGHTS
                may_say_more = kind in _SAYS_MORE
            quote = a.find(b'"', start)
            if a != b and not (may_differ and b.startswith(a[: quote + 1])):
                return a, b
            if is_of_weights:
                if self._is_unknown(a[start:quote]):
                    return a, b
            elif may_say_more and self._says_more(kind, a, b, a[start:quote]):
                return a, b
        return None

    def take(self, one: _Line, other: _Line) -> bool:
        """Keep or skip a fact of both runs; return False if the lines do not hold the same fact.

        Called for every line, so it looks at bytes alone.
        """
        a, b = one[1], other[1]
        kind = _kind(a)
        if kind not in _MANY:
            if a.startswith(_AGAIN):
                return self._take_again(one, other)
            return kind == _kind(b) and self._keep(one, other, kind)
        start = a.find(_PLACE, len(_SEEN)) + len(_PLACE)
        end = a.find(b'"', start)
        passed_over = self.told
        if a != b:
            passed_over = self.differ
            # up to the quote behind its place, a line says which fact it is
            if not b.startswith(a[: end + 1]):
                return False
        if kind not in passed_over or self._is_needed(kind, a, b, a[start:end]):
            return self._keep(one, other, kind)
        return True

    def _is_needed(self, kind: bytes, a: bytes, b: bytes, place: bytes) -> bool:
        """Return whether a fact says more than its values, or is of a weight not known at first."""
        if kind in _OF_WEIGHTS:
            return self._is_unknown(place)
        return kind in _SAYS_MORE and self._says_more(kind, a, b, place)

    def _is_unknown(self, place: bytes) -> bool:
        """Return whether the first values of a weight were not recorded."""
        # a colon stands in the name of what an optimizer keeps of a weight
        return place.find(b":") < 0 and place not in self.known

    def _says_more(self, kind: bytes, a: bytes, b: bytes, place: bytes) -> bool:
        """Return whether a fact says more than its values, such as a call that drew numbers."""
        more = _SAYS_MORE[kind]
        # `in` takes five times as long: it tries the bytes as a number before
        if a.find(more) >= 0 or (a != b and b.find(more) >= 0):
            return True
        if kind == _WEIGHTS:
            self.known.add(place)
        return False

    def _keep(self, one: _Line, other: _Line, kind: bytes) -> bool:
        """Decode and keep a fact of both runs; return False if a line holds no fact."""
        a, b = _taken(self.first, one), _taken(self.second, other)
        if a is None or b is None:
            return False
        if kind not in _MANY:
            return True
        algorithms = Algorithms(first=self.first.algorithm, second=self.second.algorithm)
        differs = compare.differing(a.inputs, b.inputs, algorithms) or compare.differing(
            a.outputs, b.outputs, algorithms
        )
        is_known = compare.known(a.outputs, b.outputs, algorithms)
        if differs:
            self.differ.add(kind)
        if is_known or compare.known(a.inputs, b.inputs, algorithms):
            self.told.add(kind)
        if is_known and kind == _WEIGHTS:
            line = one[1]
            start = line.find(_PLACE) + len(_PLACE)
            self.known.add(line[start : line.find(b'"', start)])
        return True

    def _take_again(self, one: _Line, other: _Line) -> bool:
        """Keep, of facts that repeat earlier values, those whose earlier values were kept.

        The values of the others agree, or follow from a difference that is known.
        """
        (at, a), (other_at, b) = one, other
        if a != b:
            return False
        again = _AGAIN_DECODER.decode(a)
        kind = again.kind.encode()
        if kind in self.differ:
            return True
        both = self.first.gradients.keys() & self.second.gradients.keys()
        places = [place for place in again.places if place in both]
        of_kept = msgspec.structs.replace(again, places=places)
        before = len(self.first.seen)
        take_again(self.first, of_kept, at)
        take_again(self.second, of_kept, other_at)
        algorithms = Algorithms(first=self.first.algorithm, second=self.second.algorithm)
        facts = zip(self.first.seen[before:], self.second.seen[before:], strict=True)
        if any(compare.differing(x.outputs, y.outputs, algorithms) for x, y in facts):
            self.differ.add(kind)
        return True


def _taken(file: DeepFile, line: _Line) -> Seen | None:
    """Return the fact in a line, which is added to its file; None if the line holds no fact."""
    at, text = line
    before = len(file.seen)
    take(file, text, at)
    return next(iter(file.seen[before:]), None)


def _kind(line: bytes) -> bytes:
    start = len(_SEEN)
    return line[start : line.find(b'"', start)]
