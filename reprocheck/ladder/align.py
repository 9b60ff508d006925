"""Two streams of facts of one rank side by side, although one may hold calls, batches or iterations
that the other does not.

A fact is known by its kind, its place and its count within the iteration. Where both streams name
the same facts in the same order, which is the rule, aligning is one pass. Where they part, the
stretch between is aligned by the facts that occur once in each (the longest increasing sequence of
them); small stretches by what repeats as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

from reprocheck.trace.deep import Seen

_Key = tuple[int, str, str, int, "int | None"]
_MOST_COMPARISONS, _LONGEST = 100_000, 4_000
"""Pairs of equal names in a stretch, and facts in it, above which only facts that are unique by
their count are anchors.
"""


class Step(NamedTuple):
    """One fact in both runs, or in one of them.

    `number` counts the steps of the merged order from 0.

    seen   the fact in run 1, else in run 2
    moved  both runs have the fact, at different places in the order
    """

    number: int
    first: Seen | None
    second: Seen | None
    seen: Seen
    moved: bool = False

    @property
    def both(self) -> bool:
        """Whether both runs have it."""
        return self.first is not None and self.second is not None


def align(first: Sequence[Seen], second: Sequence[Seen]) -> tuple[Step, ...]:
    """Each fact of both streams once, in an order that keeps that of run 1, and that of run 2 where
    nothing moved.
    """
    pairs = list(_pairs([_key(seen) for seen in first], [_key(seen) for seen in second]))
    partner = _moved(first, second, pairs)
    taken = set(partner.values())
    steps: list[Step] = []
    for a, b in pairs:
        if a is None and b in taken:
            continue
        moved = b is None and a in partner
        other = partner[a] if moved and a is not None else b
        one, another = None if a is None else first[a], None if other is None else second[other]
        seen = one if one is not None else another
        if seen is not None:
            steps.append(Step(len(steps), one, another, seen, moved))
    return tuple(steps)


def _key(seen: Seen) -> _Key:
    return (seen.iteration, seen.kind, seen.place, seen.call, seen.optimizer)


_Pair = tuple["int | None", "int | None"]


def _pairs(a: Sequence[_Key], b: Sequence[_Key]) -> Iterator[_Pair]:
    """Indexes of both, aligned.

    What is the same at the start and at the end is taken first; between, iteration by iteration.
    """
    start = _same(a, b)
    yield from ((i, i) for i in range(start))
    end = _same(a[start:][::-1], b[start:][::-1])
    iterations = _spans(a, start, len(a) - end)
    others = _spans(b, start, len(b) - end)
    for iteration in sorted({*iterations, *others}):
        i, j = iterations.get(iteration, (0, 0)), others.get(iteration, (0, 0))
        yield from _stretch(a, b, range(*i), range(*j))
    yield from ((len(a) - k, len(b) - k) for k in range(end, 0, -1))


def _same(a: Sequence[_Key], b: Sequence[_Key]) -> int:
    """Length of the common beginning."""
    shorter = min(len(a), len(b))
    return next((i for i in range(shorter) if a[i] != b[i]), shorter)


def _spans(keys: Sequence[_Key], start: int, end: int) -> dict[int, tuple[int, int]]:
    """Iteration -> half-open range of its keys.

    An iteration that comes again (it should not) is joined with what is between.
    """
    spans: dict[int, tuple[int, int]] = {}
    place, highest = start, -1
    for number, group in groupby(keys[start:end], key=lambda key: key[0]):
        highest = max(highest, number)
        length = sum(1 for _ in group)
        spans[highest] = (spans.get(highest, (place, place))[0], place + length)
        place += length
    return spans


def _stretch(a: Sequence[_Key], b: Sequence[_Key], i: range, j: range) -> Iterator[_Pair]:
    keys_a, keys_b = [a[n] for n in i], [b[n] for n in j]
    done_a = done_b = 0
    for x, y in [*_anchors(keys_a, keys_b), (len(i), len(j))]:
        yield from ((i[n], None) for n in range(done_a, x))
        yield from ((None, j[n]) for n in range(done_b, y))
        if x < len(i) and y < len(j):
            yield i[x], j[y]
        done_a, done_b = x + 1, y + 1


def _anchors(a: Sequence[_Key], b: Sequence[_Key]) -> list[tuple[int, int]]:
    """Places that go together, increasing in both."""
    start = _same(a, b)
    names_a, names_b = [key[1:3] for key in a], [key[1:3] for key in b]
    counts = Counter(names_b)
    if len(a) + len(b) <= _LONGEST and sum(counts[name] for name in names_a) <= _MOST_COMPARISONS:
        blocks = SequenceMatcher(
            None, names_a[start:], names_b[start:], autojunk=False
        ).get_matching_blocks()
        rest = [
            (start + block.a + n, start + block.b + n)
            for block in blocks
            for n in range(block.size)
        ]
        return [*((n, n) for n in range(start)), *rest]
    once_a, once_b = _once(a), _once(b)
    return _increasing([(place, once_b[key]) for key, place in once_a.items() if key in once_b])


def _once(keys: Sequence[Hashable]) -> dict[Hashable, int]:
    """Place of each key that occurs once, in order."""
    counts = Counter(keys)
    return {key: place for place, key in enumerate(keys) if counts[key] == 1}


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest chain of pairs that increases in both; `pairs` increase in the first."""
    tails: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for n, (_, y) in enumerate(pairs):
        length = bisect_left(tails, y)
        before.append(at[length - 1] if length else -1)
        if length == len(tails):
            tails.append(y)
            at.append(n)
        else:
            tails[length], at[length] = y, n
    chain: list[tuple[int, int]] = []
    n = at[-1] if at else -1
    while n >= 0:
        chain.append(pairs[n])
        n = before[n]
    return chain[::-1]


def _moved(first: Sequence[Seen], second: Sequence[Seen], pairs: Sequence[_Pair]) -> dict[int, int]:
    """Facts that stand alone in each run and are the same fact: index in run 1 -> index in run
    2.
    """
    alone = {_key(second[b]): b for a, b in pairs if a is None and b is not None}
    found: dict[int, int] = {}
    for a, b in pairs:
        if a is not None and b is None and (other := alone.pop(_key(first[a]), None)) is not None:
            found[a] = other
    return found
