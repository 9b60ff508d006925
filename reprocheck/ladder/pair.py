"""Align two traces of one rank, and find every place where they differ."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from operator import attrgetter

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
    """A fact that differs between the runs, with the paths of its differing inputs and outputs.

    step     the fact in both runs
    rung     the rung of the ladder
    inputs   paths of the inputs that differ
    outputs  paths of the outputs that differ

    Both are empty if only one run has the fact, or if only the order of samples differs.
    """

    step: Step
    rung: RungName
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def seen(self) -> Seen:
        """The fact in run 1; in run 2 if run 1 lacks it."""
        return self.step.seen

    @property
    def samples(self) -> tuple[Sequence[str], Sequence[str]]:
        """The hashes of the samples of a batch in both runs; empty if they are not known."""
        if self.step.facts is None:
            return (), ()
        first, second = self.step.facts
        return first.samples or (), second.samples or ()

    @property
    def structural(self) -> bool:
        """Return whether only one run has the fact."""
        return not self.step.both


class Pair:
    """Two traces of one rank, aligned fact by fact."""

    def __init__(
        self,
        first: DeepTrace,
        second: DeepTrace,
        *,
        ranks: int = 1,
        known_weights: Set[str] = frozenset(),
    ) -> None:
        self.first, self.second, self.ranks = first, second, ranks
        self.known_weights = known_weights
        """Those whose first values were recorded, although their facts may not be here."""
        self.algorithms: Algorithms = compare.algorithms(first, second)
        sides: list[Sequence[Seen]] = [first.seen, second.seen]
        if self.incomparable:
            # hashes that say nothing beside those of another algorithm: states, contents of data
            nothing = {"before": {}, "after": {}, "subset": "", "held": "", "bag": ""}
            sides = [[msgspec.structs.replace(fact, **nothing) for fact in side] for side in sides]
        steps = align(*sides)
        self.operators = tuple(step for step in steps if step.seen.kind == "op")
        self.steps = tuple(step for step in steps if step.seen.kind != "op")

    @property
    def rank(self) -> int:
        """The rank that recorded the traces."""
        return self.first.rank

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Everything that differs, in the order of execution."""
        differences: list[Difference] = []
        for step in self.up_to(self._end(), *RUNG_OF):
            inputs = compare.inputs(step, self.algorithms)
            outputs = compare.outputs(step, self.algorithms)
            if any((inputs, outputs, self._other_samples(step), not step.both)):
                rung = self.rung_of(step)
                differences.append(Difference(step=step, rung=rung, inputs=inputs, outputs=outputs))
        return tuple(differences)

    @cached_property
    def recorded(self) -> frozenset[RungName]:
        """Rungs of which something could be compared."""
        steps_of: dict[RungName, list[Step]] = defaultdict(list)
        for step in self.of_kind(*RUNG_OF):
            steps_of[self.rung_of(step)].append(step)
        return frozenset(
            rung for rung, steps in steps_of.items() if any(map(self.comparable, steps))
        )

    @cached_property
    def incomparable(self) -> bool:
        """Return whether the traces hash with different algorithms."""
        return len({self.first.algorithm, self.second.algorithm} - {""}) > 1

    def rung_of(self, step: Step) -> RungName:
        """Return the rung of a fact whose kind has a rung.

        With one rank nothing is reduced: a change before the update belongs to the gradient.
        """
        rung = RUNG_OF[step.seen.kind]
        if rung == "reduced gradient" and self.ranks < 2:
            return "gradient"
        return rung

    def of_kind(self, *kinds: str) -> list[Step]:
        """Return all facts of these kinds, in order."""
        return list(_of_kinds(self.steps, kinds))

    def at(self, place: str, *kinds: str) -> list[Step]:
        """Return all facts of these kinds that one place has, in order."""
        return [step for step in self.of_kind(*kinds) if step.seen.place == place]

    def tells(self, step: Step) -> bool:
        """Return whether a fact says anything.

        Only one run has it, or a part of it can be compared.
        """
        return not step.both or self.comparable(step)

    def before(self, number: int, *kinds: str) -> Iterator[Step]:
        """Return the facts of these kinds before a step, the nearest first."""
        return _of_kinds(reversed(self.steps[: self.position(number)]), kinds)

    def after(self, number: int, *kinds: str) -> Iterator[Step]:
        """Return the facts of these kinds after a step, in order."""
        return _of_kinds(self.steps[self.position(number + 1) :], kinds)

    def up_to(self, number: int, *kinds: str) -> Iterator[Step]:
        """Return the facts of these kinds up to and including a step, in order."""
        return _of_kinds(self.steps[: self.position(number + 1)], kinds)

    def before_in_iteration(self, step: Step, *kinds: str) -> Iterator[Step]:
        """Return the facts of these kinds before a step in its own iteration, the nearest first."""
        return _of_iteration(self.before(step.number, *kinds), step.seen.iteration)

    def after_in_iteration(self, step: Step, *kinds: str) -> Iterator[Step]:
        """Return the facts of these kinds after a step in its own iteration, in order."""
        return _of_iteration(self.after(step.number, *kinds), step.seen.iteration)

    def calls(self, iteration: int) -> list[Seen]:
        """Return the calls of modules in an iteration, in the order in which they return."""
        return [step.seen for step in _of_iteration(self.of_kind("call"), iteration)]

    def position(self, number: int) -> int:
        """Return the index of the first step whose number is at least `number`."""
        return bisect_left(self.steps, number, key=attrgetter("number"))

    @property
    def last(self) -> int:
        """The number of the last step; -1 if there are no steps."""
        return max((step.number for step in self.steps), default=-1)

    def differs(self, step: Step) -> bool:
        """Return whether anything of a fact differs."""
        return step.number in self._numbers

    def agrees(self, step: Step) -> bool:
        """Return whether both runs have a fact, and nothing of it differs."""
        return step.both and not self.differs(step)

    def rungs_before(self, number: int) -> set[RungName]:
        """Return the rungs on which something differs before a step."""
        return {one.rung for one in self.differences if one.step.number < number}

    @cached_property
    def _numbers(self) -> frozenset[int]:
        return frozenset(difference.step.number for difference in self.differences)

    def comparable(self, step: Step) -> bool:
        """Return whether both runs have a fact, and some part of it can be compared."""
        if step.facts is None:
            return False
        a, b = step.facts
        if a.kind == "epoch" and None not in (a.indices, b.indices):
            return True
        by_outputs = compare.known(a.outputs, b.outputs, self.algorithms)
        return by_outputs or compare.known(a.inputs, b.inputs, self.algorithms)

    def _end(self) -> int:
        """Return the number of the last step to look at: the last that both runs have.

        The step after it is included if the shorter run came to its own end, because then the other
        run really went on alone.
        """
        last = max((step.number for step in self.steps if step.both), default=-1)
        rest = self.steps[self.position(last + 1) :]
        if not rest:
            return last
        shorter = self.second
        if rest[0].first is None:
            shorter = self.first
        if not shorter.ended:
            return last
        return rest[0].number

    def _other_samples(self, step: Step) -> bool:
        """Return whether a loader gives other samples or another order, even of equal tensors."""
        if step.facts is None:
            return False
        a, b = step.facts
        if a.kind == "epoch":
            return a.indices != b.indices
        if a.kind != "batch" or self.incomparable:
            return False
        return None not in (a.samples, b.samples) and a.samples != b.samples


def _of_kinds(steps: Iterable[Step], kinds: Container[str]) -> Iterator[Step]:
    return (step for step in steps if step.seen.kind in kinds)


def _of_iteration(steps: Iterable[Step], iteration: int) -> Iterator[Step]:
    return (step for step in steps if step.seen.iteration == iteration)


def module_around(places: Sequence[str]) -> str:
    """Return the innermost module that contains all these places."""
    parents = [place.split(".")[:-1] for place in places]
    levels = takewhile(lambda names: len(set(names)) == 1, zip(*parents, strict=False))
    return ".".join(names[0] for names in levels)


def is_inside(place: str, module: str) -> bool:
    """Return whether a module lies inside another one; all lie inside the model itself ("")."""
    prefix = f"{module}."
    if not module:
        prefix = ""
    return place != module and place.startswith(prefix)
