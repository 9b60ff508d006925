"""Find generators that stand elsewhere than in the continued run.

How far apart they are, what was put back, and what was done to them afterwards.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from reprocheck.child.reprocheck_child.shared.marks import UNMOVED
from reprocheck.ladder import compare
from reprocheck.resume.gap import mersenne_twister
from reprocheck.resume.gap.evidence import SCRIPT, Drawer, GeneratorGap, SeedSet
from reprocheck.resume.gap.sides import Side
from reprocheck.trace.deep import Seen

_SEED_OF_TORCH = 8
"""Bytes of the seed in a state of PyTorch's: it decides no draw."""
_NOT_LOOKED_AT: Mapping[str, tuple[str, ...]] = {"epoch": ("torch",)}
"""Generators that may have moved with a fact without a draw that shows: a loader draws a seed for
its workers, on which nothing hangs. Seeds and states that are put back are of their own place.
"""
States = Mapping[str, str]
Draw = tuple[str, Seen]
"""A generator, and the fact that shows a draw from it."""


@dataclass(frozen=True)
class GeneratorPair:
    """The generators of both runs at the point where the training goes on after the checkpoint.

    others  rank -> the states at that point of the other ranks of the continued run
    """

    continued: Side
    resumed: Side
    others: Mapping[int, States] = field(default_factory=dict)

    @cached_property
    def unequal(self) -> list[str]:
        """The generators that do not stand in the same state."""
        was, now = self.continued.states, self.resumed.states
        names = []
        for name in compare.unequal_states(was, now):
            states = was[name], now[name]
            if mersenne_twister.form_of(name) == "torch":
                one, other = (b64decode(state)[_SEED_OF_TORCH:] for state in states)
                if one == other:
                    continue
            names.append(name)
        return sorted(names)

    def gaps(self, until: float = inf) -> Iterator[GeneratorGap]:
        """Yield the generators whose states differ and that are drawn from after the checkpoint.

        They come in the order in which they are first drawn from.

        until  the iteration of the resumed run from which on a draw may follow from another
               difference
        """
        drawn = {**drawers(self.resumed, until), **drawers(self.continued, until)}
        return self._gaps(drawn.items())

    def moving(self) -> tuple[GeneratorGap, ...]:
        """Return all generators whose states differ and that either run draws from at any time."""
        moving = _moving(self.continued) | _moving(self.resumed)
        return tuple(self._gaps((name, None) for name in self.unequal if name in moving))

    def beside_a_batch(self, iteration: int) -> GeneratorGap | None:
        """Return the first unequal generator drawn from beside a batch that is another one.

        The continued run draws from it in the iteration in which the resumed run has that batch,
        which may have moved it, too.
        """
        drawn = _draws(_behind(self.continued, iteration + 1))
        named = ((name, _drawer(fact)) for name, fact in drawn if fact.kind != "epoch")
        return next(self._gaps(named), None)

    def of_steps(self) -> GeneratorGap | None:
        """Return an unequal generator that the script itself draws from until the next step.

        Where no loader hands batches out, it makes them, one ahead or several for one step.
        """
        drawn = _draws(_behind(self.continued, 3))
        # facts that show a draw of the script itself, where no loader hands batches out
        named = ((name, SCRIPT) for name, fact in drawn if fact.kind in ("rng", "batch"))
        return next(self._gaps(named), None)

    def of_order(self, names: Iterable[str]) -> GeneratorGap | None:
        """Return an unequal generator of an order although a state of it was put back.

        names  the generators from which the first order was drawn
        """
        gaps = self._gaps((name, None) for name in names)
        return next((gap for gap in gaps if gap.restored), None)

    def unrestored(self) -> list[str]:
        """Return the generators with unequal states of which no state was put back.

        Only those that the continued run draws from at all.
        """
        restored = {fact.place for fact in self.resumed.before("restore")}
        moving = _moving(self.continued)
        return [name for name in self.unequal if name in moving and _base(name) not in restored]

    def _gaps(self, named: Iterable[tuple[str, Drawer | None]]) -> Iterator[GeneratorGap]:
        """Yield the gaps of those generators whose states differ; each with what draws from it."""
        return (self._gap(name, drawer) for name, drawer in named if name in self.unequal)

    def _gap(self, name: str, drawer: Drawer | None) -> GeneratorGap:
        state = self.resumed.states[name]
        was = mersenne_twister.state_of(name, self.continued.states[name])
        now = mersenne_twister.state_of(name, state)
        ahead = mersenne_twister.ahead(was, now)
        restore, reseeded, seed = _history(name, self.resumed)
        since = None
        if seed is not None and seed.seed is not None:
            since = mersenne_twister.ahead(mersenne_twister.seeded(_base(name), seed.seed), now)
        of_rank = next((rank for rank in self.others if self.others[rank].get(name) == state), None)
        ahead_of_rank = 0
        if of_rank is None and restore is not None and ahead is None:
            # a state that its own generator does not come to may be one that another rank's does
            for rank, states in self.others.items():
                other = mersenne_twister.state_of(name, states.get(name, ""))
                ahead_of_rank = max(0, mersenne_twister.ahead(other, now) or 0)
                if ahead_of_rank:
                    of_rank = rank
                    break
        return GeneratorGap(
            name=name,
            drawn_by=drawer,
            ahead=ahead,
            restored=restore is not None,
            line=restore.line if restore is not None else "",
            by=restore.by if restore is not None else "",
            reseeded=reseeded,
            seed=seed,
            since=since,
            of_rank=of_rank,
            ahead_of_rank=ahead_of_rank,
        )


def drawers(side: Side, until: float = inf) -> dict[str, Drawer]:
    """Return generator -> what draws from it first after the checkpoint."""
    first: dict[str, Drawer] = {}
    for name, fact in _draws(_behind(side, until)):
        first.setdefault(name, _drawer(fact))
    return first


def _behind(side: Side, until: float) -> list[Seen]:
    """Return the facts behind the point, before an iteration of the resumed run."""
    return [fact for fact in side.trace.seen[side.start :] if fact.iteration - side.offset < until]


def _drawer(fact: Seen) -> Drawer:
    # the script makes and calls such a generator itself
    if fact.kind == "rng" or fact.class_ == "tf.random.Generator":
        return SCRIPT
    return Drawer(kind=fact.kind, place=fact.place, class_=fact.class_)


def _moving(side: Side) -> set[str]:
    """Return the generators that a run draws from at any time that was recorded."""
    return {name for name, _ in _draws(side.trace.seen)}


@dataclass(slots=True)
class _Known:
    """A generator between two recordings of its state.

    state  the state that was recorded last
    since  the state before the first draw that no call has made so far; None: no such draw shows
    """

    state: str
    since: str | None = None

    def follow(self, before: str, after: str) -> None:
        """Follow a call of a module that moved it.

        An outer module is told of behind the ones in it: a draw in front of an inner call is its
        own where it began in the state before that draw.
        """
        if before == self.since:
            self.since = None
        elif before != self.state and self.since is None:
            self.since = self.state
        self.state = after


def _draws(facts: Iterable[Seen]) -> Iterator[Draw]:
    """Yield each draw that the recorded states show.

    Between two recorded states the script itself has drawn if no other fact has.
    """
    known: dict[str, _Known] = {}
    for fact in facts:
        yield from ((name, fact) for name in fact.after)
        if fact.kind == "call":
            for name in known.keys() & fact.before.keys() & fact.after.keys():
                known[name].follow(fact.before[name], fact.after[name])
        else:
            for name in (*fact.after, *_NOT_LOOKED_AT.get(fact.kind, (fact.place,))):
                known.pop(name, None)
        if fact.kind == "boundary":  # says where those stand, too, that the script never touched
            known = {name: one for name, one in known.items() if one.state != UNMOVED}
        if fact.kind in ("rng", "boundary"):
            for name, last in known.items():
                if last.since is not None or last.state != fact.before.get(name):
                    yield name, fact
            known = {name: _Known(state) for name, state in fact.before.items()}


def _history(name: str, side: Side) -> tuple[Seen | None, SeedSet | None, SeedSet | None]:
    """Return what was done to a generator before the checkpoint was resumed from.

    These are the last state that was put back, the seed that was set after it, and the last seed of
    all.
    """
    restore: Seen | None = None
    after: SeedSet | None = None
    last: SeedSet | None = None
    for fact in side.before("restore", "seed"):
        if fact.place != _base(name):
            continue
        if fact.kind == "restore":
            restore, after = fact, None
            continue
        number = compare.first_output(fact).value
        last = SeedSet(seed=number if isinstance(number, int) else None, line=fact.line, by=fact.by)
        if restore is not None:
            after = last
    return restore, after, last


def _base(name: str) -> str:
    """Return the generator that a seed names: `cuda` of `cuda:0`."""
    return name.partition(":")[0]
