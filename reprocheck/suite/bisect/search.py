"""Which candidate to check next, and what the answers come to: pure, over numbers alone.

The candidates are numbered from 1 in an order in which each comes after those that it builds on; 0
is the good end, and the last candidate is the bad end. A chain is the usual case; commits with
merges form a graph, and the middle is chosen as `git rev-list --bisect` chooses it: the candidate
that splits what is left most evenly.

On a chain of n candidates at most ⌈log2 n⌉ + 1 of them are checked, both ends included, and one
more for each that cannot be checked. The count works because the ends take part in the search: of
n + 2 possible outcomes (one for each candidate, *the good end is bad here*, *the bad end is good
here*) a check removes half. So the answer is always a candidate that was bad here, right after one
that was good here. One candidate alone leaves room for one check: that of the bad end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Answer = Literal["good", "bad", "skip"]
"""What the check of a candidate came to; `skip` where it could not be made."""
End = Literal["good", "bad"]
GOOD_END = 0
NEIGHBOURS = 2
"""Where so many of the candidates next to the middle could not be checked, the next is looked for
away from them: what keeps one commit from running often keeps its neighbours from it.
"""


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Hold which candidate builds on which.

    `parents[i]` holds only smaller numbers, `parents[0]` none.
    """

    parents: tuple[tuple[int, ...], ...]

    @classmethod
    def chain(cls, candidates: int) -> Graph:
        """Return a graph in which each candidate builds on the one before."""
        return cls(parents=((), *((number,) for number in range(candidates))))

    @property
    def bad_end(self) -> int:
        """Return the number of the bad end, which is also the number of candidates."""
        return len(self.parents) - 1

    @cached_property
    def ancestors(self) -> tuple[int, ...]:
        """Return, for each number, a bit set of the number itself and all its ancestors."""
        found: list[int] = []
        for number, parents in enumerate(self.parents):
            bits = 1 << number
            for parent in parents:
                bits |= found[parent]
            found.append(bits)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Probe:
    """Name the candidate to check next."""

    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """Hold the first bad candidate.

    candidates    the number; several if candidates between could not be checked: one of them is it
    good_checked  whether a good candidate was seen in this search; if not, only the record of the
                  good night says that its end is good
    """

    candidates: tuple[int, ...]
    good_checked: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class NotHere:
    """Say that an end of the search does not behave as it did in its night.

    The good end is bad, or the bad end is good.

    skipped  whether the bad end, and every candidate in its place, could not be checked
    """

    end: End
    skipped: bool = False


Step = Probe | Found | NotHere


def most_checks(candidates: int) -> int:
    """Return ⌈log2 n⌉ + 1, the most checks of n candidates on a chain if none is skipped."""
    return (candidates - 1).bit_length() + 1


def step(graph: Graph, answers: Mapping[int, Answer]) -> Step:
    """Return the next candidate to check, or the outcome."""
    suspects = _suspects(graph, answers)
    bad_seen = "bad" in answers.values()
    if not suspects:
        return NotHere(end="bad")
    if answers.get(GOOD_END) == "bad":
        return NotHere(end="good")
    is_power_of_two = not graph.bad_end & (graph.bad_end - 1)
    if not answers and not is_power_of_two:
        return Probe(graph.bad_end)
    probe = _middle(graph, answers, suspects, outcomes=suspects.bit_count() + (not bad_seen))
    if probe is not None:
        return Probe(probe)
    if not bad_seen:
        return NotHere(end="bad", skipped=True)
    return Found(
        candidates=tuple(_members(suspects & ~(1 << GOOD_END))),
        good_checked="good" in answers.values(),
    )


def _suspects(graph: Graph, answers: Mapping[int, Answer]) -> int:
    """Return the numbers that may be the first bad candidate, as a bit set."""
    left = graph.ancestors[graph.bad_end]
    for number, answer in answers.items():
        if answer == "bad":
            left &= graph.ancestors[number]
        elif answer == "good":
            left &= ~graph.ancestors[number]
    return left


def _middle(
    graph: Graph, answers: Mapping[int, Answer], suspects: int, outcomes: int
) -> int | None:
    """Return the candidate that splits the outcomes most evenly; None if none is left to check."""
    alone = graph.bad_end == 1
    evenness = {
        number: min(with_it, outcomes - with_it)
        for number in _members(suspects)
        if number not in answers and not (alone and number == GOOD_END)
        if (with_it := (graph.ancestors[number] & suspects).bit_count())
    }
    if not evenness:
        return None
    best = max(evenness, key=evenness.__getitem__)
    skipped = [number for number in _members(suspects) if answers.get(number) == "skip"]
    beside = [number for number in skipped if abs(number - best) <= NEIGHBOURS]
    if len(beside) < NEIGHBOURS:
        return best
    even_enough = [number for number, even in evenness.items() if 2 * even >= evenness[best]]
    return max(even_enough, key=lambda number: min(abs(number - other) for other in skipped))


def _members(bits: int) -> Iterator[int]:
    """Yield the numbers in a bit set, smallest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
