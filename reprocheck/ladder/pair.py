"""Two traces of one rank side by side, and every place where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from reprocheck.ladder import compare
from reprocheck.ladder.align import Step, align
from reprocheck.ladder.compare import Algorithms
from reprocheck.model import RungName
from reprocheck.trace.deep import DeepTrace, Seen

RUNG_OF: Mapping[str, RungName] = {
    "hyper": "hyper-parameters",
    "weights": "initial weights",
    "batch": "batch",
    "epoch": "batch",
    "call": "forward",
    "between": "loss",
    "root": "loss",
    "loss": "loss",
    "outgrad": "gradient",
    "gradient": "gradient",
    "reduced": "reduced gradient",
    "update": "update",
    "written": "update",
}
"""Kind of fact -> the rung that it stands on.

Operators refine what modules say; seeds, states and loads are evidence.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A fact that is not the same in both runs: the paths of what went in and of what came out that
    differ.

    Both are empty where only one run has the fact, where the fact is the order of samples, and
    where samples stand in another order.
    """

    step: Step
    rung: RungName
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def seen(self) -> Seen:
        """The fact in run 1, else in run 2."""
        return self.step.seen

    @property
    def structural(self) -> bool:
        """Whether only one run has it."""
        return not self.step.both


class Pair:
    """Two traces of one rank, aligned."""

    def __init__(self, first: DeepTrace, second: DeepTrace, *, ranks: int = 1) -> None:
        self.first, self.second, self.ranks = first, second, ranks
        self.algorithms: Algorithms = compare.algorithms(first, second)
        sides = (
            (first.seen, second.seen)
            if not self.incomparable
            else (_without_states(first.seen), _without_states(second.seen))
        )
        steps = align(*sides)
        self.operators = tuple(step for step in steps if step.seen.kind == "op")
        self.steps = tuple(step for step in steps if step.seen.kind != "op")

    @property
    def rank(self) -> int:
        """The rank that recorded them."""
        return self.first.rank

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Everything that differs, in the order of execution."""
        return tuple(self._differences())

    @cached_property
    def recorded(self) -> frozenset[RungName]:
        """Rungs of which something could be compared."""
        found: set[RungName] = set()
        for step in self.steps:
            rung = self.rung_of(step)
            if rung is not None and rung not in found and self.comparable(step):
                found.add(rung)
        return frozenset(found)

    @cached_property
    def incomparable(self) -> bool:
        """Whether the traces hash with different algorithms."""
        return bool(
            self.first.algorithm
            and self.second.algorithm
            and self.first.algorithm != self.second.algorithm
        )

    def rung_of(self, step: Step) -> RungName | None:
        """The rung of a fact. One rank reduces nothing: what changes its gradient before the update
        belongs to the gradient.
        """
        rung = RUNG_OF.get(step.seen.kind)
        return "gradient" if rung == "reduced gradient" and self.ranks < 2 else rung

    def before(self, number: int, *kinds: str) -> Iterator[Step]:
        """The facts of these kinds before a step, the nearest first."""
        position = self.position(number)
        return (step for step in reversed(self.steps[:position]) if step.seen.kind in kinds)

    def after(self, number: int, *kinds: str) -> Iterator[Step]:
        """The facts of these kinds after a step, in order."""
        position = self.position(number)
        return (
            step
            for step in self.steps[position:]
            if step.number > number and step.seen.kind in kinds
        )

    def position(self, number: int) -> int:
        """Index of the first step that is not before step `number`."""
        low, high = 0, len(self.steps)
        while low < high:
            middle = (low + high) // 2
            if self.steps[middle].number < number:
                low = middle + 1
            else:
                high = middle
        return low

    def differs(self, step: Step) -> bool:
        """Whether anything of a fact differs."""
        return step.number in self._numbers

    @cached_property
    def _numbers(self) -> frozenset[int]:
        return frozenset(difference.step.number for difference in self.differences)

    def comparable(self, step: Step) -> bool:
        """Whether both runs have the fact, and anything in it that can be compared."""
        if not step.first or not step.second:
            return False
        a, b = step.first, step.second
        if a.indices is not None and b.indices is not None and a.kind == "epoch":
            return True
        return any(
            compare.known(*sides, self.algorithms)
            for sides in ((a.outputs, b.outputs), (a.inputs, b.inputs))
        )

    def _differences(self) -> Iterator[Difference]:
        end = self._end()
        for step in self.steps:
            rung = self.rung_of(step)
            if rung is None or step.number > end:
                continue
            if not step.both:
                yield Difference(step=step, rung=rung)
                continue
            inputs, outputs = (
                compare.inputs(step, self.algorithms),
                compare.outputs(step, self.algorithms),
            )
            if inputs or outputs or self._other_samples(step):
                yield Difference(step=step, rung=rung, inputs=inputs, outputs=outputs)

    def _end(self) -> int:
        """The last step to look at: behind the last that both runs have, one run has gone on alone.

        That says something only where the other one came to its own end.
        """
        last = max((step.number for step in self.steps if step.both), default=-1)
        rest = next((step for step in self.steps if step.number > last), None)
        if rest is None:
            return last
        shorter = self.second if rest.first is not None else self.first
        return rest.number if shorter.ended else last

    def _other_samples(self, step: Step) -> bool:
        a, b = step.first, step.second
        if not a or not b:
            return False
        if a.kind == "epoch":
            return a.indices != b.indices
        return (
            a.kind == "batch"
            and not self.incomparable
            and a.samples is not None
            and b.samples is not None
            and a.samples != b.samples
        )


def _without_states(seen: Sequence[Seen]) -> tuple[Seen, ...]:
    """Facts without the hashes that say nothing beside those of another algorithm: states of
    generators, contents of data sets.
    """
    return tuple(
        msgspec.structs.replace(one, before={}, after={}, subset="", held="", bag="")
        for one in seen
    )
