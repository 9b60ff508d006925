"""Align two streams of facts of one rank.

One may hold calls, batches or iterations that the other lacks.

A fact is known by its kind, its place (such as a module path) and its count within the iteration.
If both streams name the same facts in the same order, which is the rule, aligning is one pass.
Otherwise the differing stretch is aligned by facts that occur once in each stream (their longest
increasing subsequence); a small stretch also by facts that repeat.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, repeat
from typing import NamedTuple

from reprocheck.trace.deep import Seen

_Key = tuple[int, str, str, int, "int | None"]
_Pair = tuple[int, int]
_ALONE = -1
"""In place of an index: the other run has no such fact."""
_MOST_COMPARISONS, _LONGEST = 100_000, 4_000
"""Pairs of equal names in a stretch, and facts in it, above which only facts that are unique by
their count are anchors.
"""


class Step(NamedTuple):
    """One fact in both runs, or in one of them.

    number  the place in the merged order, from 0
    first   the fact in run 1, or None
    second  the fact in run 2, or None
    seen    the fact in run 1, else in run 2
    moved   whether both runs have the fact, at different places in their order
    """

    number: int
    first: Seen | None
    second: Seen | None
    seen: Seen
    moved: bool = False

    @property
    def both(self) -> bool:
        """Return whether both runs have the fact."""
        return self.facts is not None

    @property
    def facts(self) -> tuple[Seen, Seen] | None:
        """The fact in run 1 and in run 2; None if only one of the runs has it."""
        if self.first is None or self.second is None:
            return None
        return self.first, self.second

    @property
    def known(self) -> tuple[Seen, ...]:
        """The fact in each run that has it."""
        return tuple(filter(None, (self.first, self.second)))


def of_run_1(steps: Iterable[Step]) -> list[Seen]:
    """Return the facts of run 1 in these steps."""
    return [step.first for step in steps if step.first is not None]


def align(first: Sequence[Seen], second: Sequence[Seen]) -> tuple[Step, ...]:
    """Return each fact of both streams once, in the order of run 1.

    Facts that did not move are in the order of run 2, too.
    """
    keys, other_keys = list(map(_key, first)), list(map(_key, second))
    pairs = list(_pairs(keys, other_keys))
    alone = {other_keys[b]: b for a, b in pairs if a == _ALONE}
    # what moved stands alone in both; a name that comes again is taken once
    partner: dict[int, int] = {}
    for a, b in pairs:
        if b == _ALONE and keys[a] in alone:
            partner[a] = alone.pop(keys[a])
    taken = frozenset(partner.values())
    steps: list[Step] = []
    for a, b in pairs:
        if a == _ALONE and b in taken:
            continue
        one = None if a == _ALONE else first[a]
        b = partner.get(a, b)
        other = None if b == _ALONE else second[b]
        seen = one or other
        assert seen is not None
        steps.append(Step(len(steps), one, other, seen, moved=a in partner))
    return tuple(steps)


def _key(seen: Seen) -> _Key:
    return (seen.iteration, seen.kind, seen.place, seen.call, seen.optimizer)


def _pairs(a: Sequence[_Key], b: Sequence[_Key]) -> Iterator[_Pair]:
    """Yield pairs of indexes of aligned keys in both streams.

    The common beginning and end are aligned first; the rest iteration by iteration.
    """
    start = _same(a, b)
    end = _same(a[start:][::-1], b[start:][::-1])
    end_a, end_b = len(a) - end, len(b) - end
    yield from zip(range(start), range(start), strict=True)
    spans, others = _spans(a, start, end_a), _spans(b, start, end_b)
    nothing = (0, 0)
    for iteration in sorted(spans.keys() | others.keys()):
        yield from _stretch(a, b, spans.get(iteration, nothing), others.get(iteration, nothing))
    yield from zip(range(end_a, len(a)), range(end_b, len(b)), strict=True)


def _same(a: Sequence[_Key], b: Sequence[_Key]) -> int:
    """Return the length of the common beginning."""
    shorter = min(len(a), len(b))
    return next((i for i in range(shorter) if a[i] != b[i]), shorter)


def _spans(keys: Sequence[_Key], start: int, end: int) -> dict[int, tuple[int, int]]:
    """Return iteration -> half-open range of its keys.

    An iteration that comes twice, which should not happen, is joined with all between.
    """
    spans: dict[int, tuple[int, int]] = {}
    place, highest = start, -1
    for number, group in groupby(keys[start:end], key=lambda key: key[0]):
        highest = max(highest, number)
        length = sum(1 for _ in group)
        spans[highest] = (spans.get(highest, (place, place))[0], place + length)
        place += length
    return spans


def _stretch(
    a: Sequence[_Key], b: Sequence[_Key], span: tuple[int, int], other: tuple[int, int]
) -> Iterator[_Pair]:
    """Yield pairs of indexes of the keys of one iteration, aligned by anchors."""
    (start_a, end_a), (start_b, end_b) = span, other
    done_a, done_b = start_a, start_b
    for x, y in _anchors(a[start_a:end_a], b[start_b:end_b]):
        anchor_a, anchor_b = start_a + x, start_b + y
        yield from _each_alone(range(done_a, anchor_a), range(done_b, anchor_b))
        yield anchor_a, anchor_b
        done_a, done_b = anchor_a + 1, anchor_b + 1
    yield from _each_alone(range(done_a, end_a), range(done_b, end_b))


def _each_alone(a: range, b: range) -> Iterator[_Pair]:
    yield from zip(a, repeat(_ALONE), strict=False)
    yield from zip(repeat(_ALONE), b, strict=False)


def _anchors(a: Sequence[_Key], b: Sequence[_Key]) -> list[tuple[int, int]]:
    """Return pairs of indexes of equal keys, increasing in both streams."""
    names_a, names_b = [key[1:3] for key in a], [key[1:3] for key in b]
    counts = Counter(names_b)
    comparisons = sum(counts[name] for name in names_a)
    if len(a) + len(b) > _LONGEST or comparisons > _MOST_COMPARISONS:
        once_a, once_b = _once(a), _once(b)
        return _increasing([(once_a[key], once_b[key]) for key in once_a if key in once_b])
    start = _same(a, b)
    anchors = [(i, i) for i in range(start)]
    rest = SequenceMatcher(None, names_a[start:], names_b[start:], autojunk=False)
    for block in rest.get_matching_blocks():
        anchors += ((start + block.a + i, start + block.b + i) for i in range(block.size))
    return anchors


def _once(keys: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return key -> index, for each key that occurs once, in order."""
    counts = Counter(keys)
    return {key: place for place, key in enumerate(keys) if counts[key] == 1}


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest chain of pairs that increases in both; `pairs` increase in the first."""
    tails: list[int] = []
    # of the best chain of each length: the number of its last pair; -1 in front of all
    last = {-1: -1}
    before: list[int] = []
    for n, (_, y) in enumerate(pairs):
        length = bisect_left(tails, y)
        before.append(last[length - 1])
        # puts it in the place of a higher end, or behind all
        tails[length : length + 1] = [y]
        last[length] = n
    chain: list[tuple[int, int]] = []
    n = last[len(tails) - 1]
    while n >= 0:
        chain.append(pairs[n])
        n = before[n]
    return chain[::-1]
