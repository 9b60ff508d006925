"""Read the two runs of a resume.

The facts before, at and behind the point where the one was stopped and the other goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec

from reprocheck.trace.deep import DeepTrace, Seen

_LEFT_OUT = frozenset((
    "boundary", "rest", "state", "held", "restore", "seed", "load", "weights", "epoch", "found",
    "own", "saved", "names", "counts",
))  # fmt: skip
"""Facts that are no steps of the training, or that the ladder across the gap looks at by itself."""


def saved_last(facts: Iterable[Seen]) -> list[Seen]:
    """Return the saves of the last iteration in which a checkpoint was written."""
    saved = list(facts)
    return [fact for fact in saved if fact.iteration == saved[-1].iteration]


@dataclass(frozen=True)
class Side:
    """One rank of one of the runs.

    `offset`: closed iterations before the first compared one, k of the continued run and 0 of the
    resumed run.
    """

    trace: DeepTrace
    offset: int = 0

    @property
    def first(self) -> int:
        """The number of the first iteration that is compared."""
        return self.offset + 1

    @cached_property
    def start(self) -> int:
        """Index of the first fact after which the training goes on after the checkpoint.

        The first fact of the iteration if no boundary was recorded.
        """
        facts = self.trace.seen
        marked = (n for n, fact in enumerate(facts) if self._is_boundary(fact))
        of_iteration = (n for n, fact in enumerate(facts) if fact.iteration >= self.first)
        return next(marked, next(of_iteration, len(facts)))

    @cached_property
    def end(self) -> int:
        """Index after the last fact before the recorder paused; the start if it paused there."""
        facts = self.trace.seen
        # behind the one little is recorded, behind the other everything
        marks = [fact.kind for fact in facts[: self.start + 1] if fact.kind in {"rest", "boundary"}]
        if marks[-1:] == ["rest"]:
            return self.start
        rests = (n for n, fact in enumerate(facts) if n > self.start and fact.kind == "rest")
        return next(rests, len(facts))

    @property
    def rested(self) -> bool:
        """Return whether steps were recorded deeply up to some point only."""
        return self.end < len(self.trace.seen)

    @property
    def marked(self) -> bool:
        """Return whether the point itself was recorded."""
        return any(map(self._is_boundary, self.trace.seen[self.start : self.start + 1]))

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The framework that steps after the checkpoint; else all imported frameworks."""
        stepping = dict.fromkeys(fact.place for fact in self._at(self.first, "boundary"))
        return tuple(filter(None, stepping)) or tuple(self.trace.frameworks)

    @cached_property
    def held(self) -> Mapping[str, Seen]:
        """Weights, buffers, `weight:state` and schedules at the checkpoint, by name."""
        return self._held_at(self.first)

    @cached_property
    def held_next(self) -> Mapping[str, Seen]:
        """Return the state that was recorded once more, one iteration later."""
        return self._held_at(self.first + 1)

    def _held_at(self, iteration: int) -> Mapping[str, Seen]:
        """Return the state that was recorded in an iteration, by name.

        States of optimizers only if the optimizer steps: a script may hold another one that was
        built before.
        """
        live = {fact.optimizer for fact in self.since("hyper")} - {None}
        facts = self._at(iteration, "held")
        if live:
            facts = (fact for fact in facts if fact.optimizer in {None, *live})
        return {fact.place: fact for fact in facts}

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the values of the script's counting variables at the checkpoint."""
        return _numbers(self._at(self.first, "counts"))

    @property
    def counts_at_first(self) -> Mapping[str, int]:
        """Return the values of the script's counting variables before the first iteration."""
        return _numbers(_of_kinds(self.trace.seen, ("counts",)))

    @cached_property
    def states(self) -> Mapping[str, str]:
        """Generator -> its state at the checkpoint, in base64."""
        return {fact.place: fact.raw for fact in self._at(self.first, "state")}

    @cached_property
    def private(self) -> frozenset[str]:
        """Hashes of the states that loaders' own generators have at the checkpoint."""
        facts = [fact.private for fact in self._at(self.first, "own")]
        return frozenset(state for one in facts if isinstance(one, dict) for state in one.values())

    def before(self, *kinds: str) -> Iterator[Seen]:
        """Return the facts of these kinds from before the checkpoint, in order."""
        return _of_kinds(self.trace.seen[: self.start], kinds)

    def since(self, *kinds: str) -> Iterator[Seen]:
        """Return the facts of these kinds from after the checkpoint, in order."""
        return _of_kinds(self.trace.seen[self.start :], kinds)

    @cached_property
    def initial(self) -> Mapping[str, Seen]:
        """The weights and buffers before the first update of all."""
        return {fact.place: fact for fact in _of_kinds(self.trace.seen, ("weights",))}

    @cached_property
    def iterations(self) -> int:
        """Return how many iterations with a loss were recorded after the checkpoint."""
        return len({fact.iteration for fact in self.since("loss")})

    def _is_boundary(self, fact: Seen) -> bool:
        return fact.kind == "boundary" and fact.iteration == self.first

    def _at(self, iteration: int, kind: str) -> Iterator[Seen]:
        return (fact for fact in self.since(kind) if fact.iteration == iteration)


def _numbers(facts: Iterator[Seen]) -> Mapping[str, int]:
    """Return the numbers of the first of some facts."""
    leaves = next((fact.outputs for fact in facts), [])
    return {name: leaf.value for name, leaf in leaves if isinstance(leaf.value, int)}


def _of_kinds(facts: Sequence[Seen], kinds: Sequence[str]) -> Iterator[Seen]:
    return (fact for fact in facts if fact.kind in kinds)


def shifted(side: Side, used: Collection[Seen] = (), place: str = "") -> DeepTrace:
    """Return what a run did from the point on, its steps numbered from 1.

    So the two runs compare like with like, up to where the recorder rested.

    A step is what leads to an update. It stands for the iteration: which optimizers belong to one
    is known only once each has stepped again, and the two runs may have built another number.

    Of the facts before it only the batches are kept that were used behind it (`used`); all that are
    `used` get the same `place`, whatever the loader is called there.
    """
    taken = set(map(id, used))
    steps = []
    for number, fact in enumerate(side.trace.seen[: side.end]):
        is_used = id(fact) in taken
        is_behind = number >= side.start and fact.kind != "batch"
        if not (is_used or is_behind) or fact.kind in _LEFT_OUT:
            continue
        steps.append(msgspec.structs.replace(fact, place=place) if place and is_used else fact)
    return replace(side.trace, seen=tuple(_renumbered(steps)))


def last_step(facts: Sequence[Seen]) -> int:
    """Return the last step that came to its update; the last step of all if none has one."""
    updated = [fact.iteration for fact in facts if fact.kind == "update"]
    return max(updated or (fact.iteration for fact in facts), default=0)


def cut(trace: DeepTrace, step: int) -> DeepTrace:
    """Return the steps of a shifted trace up to a given one."""
    return replace(trace, seen=tuple(fact for fact in trace.seen if fact.iteration <= step))


def _renumbered(facts: Sequence[Seen]) -> Iterator[Seen]:
    """Yield the facts with their steps counted from 1.

    The calls of each place are counted anew within a step, and the optimizers in the order in which
    they step.
    """
    counts: Counter[tuple[int, str, str]] = Counter()
    optimizers: dict[int | None, int | None] = {None: None}
    step, updated = 1, False
    for fact in facts:
        # facts of a forward pass: behind an update, the first of them begins the next step
        if updated and fact.kind in {"batch", "call", "between", "root"}:
            step, updated = step + 1, False
        updated = updated or fact.kind == "update"
        number = optimizers.setdefault(fact.optimizer, len(optimizers) - 1)
        place = fact.place
        if fact.kind == "hyper":
            place = numbered(place, number)
        name = (step, fact.kind, place)
        yield msgspec.structs.replace(
            fact, iteration=step, place=place, optimizer=number, call=counts[name]
        )
        counts[name] += 1


def numbered(place: str, number: int | None) -> str:
    """Return the name of an optimizer with another index: `Adam[0]` of `Adam[1]`."""
    return f"{place.partition('[')[0]}[{number}]"
