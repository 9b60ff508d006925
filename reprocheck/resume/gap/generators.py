"""Generators that stand elsewhere than in the continued run: how far apart, what was put back, and
what was done to them afterwards.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from math import inf

from reprocheck.child.reprocheck_child.shared.generators import UNMOVED
from reprocheck.ladder.facts import place_of
from reprocheck.resume.gap import mersenne_twister
from reprocheck.resume.gap.batches import NO_LOADER
from reprocheck.resume.gap.evidence import GeneratorGap, SeedSet
from reprocheck.resume.gap.sides import Side
from reprocheck.trace.deep import Seen
from reprocheck.wording.ladder.words import place

_SEED_OF_TORCH = 8
"""Bytes of the seed in a state of PyTorch's: it decides no draw."""
_NOT_LOOKED_AT: Mapping[str, tuple[str, ...]] = {"epoch": ("torch",)}
"""Generators that may have moved with a fact without a draw that shows: a loader draws a seed for
its workers, on which nothing hangs. Seeds and states that are put back are of their own place.
"""
States = Mapping[str, str]
NO_RANKS: Mapping[int, States] = {}


def gaps(
    continued: Side,
    resumed: Side,
    until: float = inf,
    others: Mapping[int, States] = NO_RANKS,
) -> list[GeneratorGap]:
    """Return the generators that stand elsewhere and are drawn from behind the point where the
    training goes on, in the order in which they are first drawn from.

    until   the iteration of the resumed run from which on a draw may follow from something else
    others  rank -> the states there of the other ranks of the continued run
    """
    drawn = {**drawers(resumed, until), **drawers(continued, until)}
    return list(_gaps(drawn.items(), continued, resumed, others))


def apart(
    continued: Side, resumed: Side, others: Mapping[int, States] = NO_RANKS
) -> tuple[GeneratorGap, ...]:
    """Return all generators that stand elsewhere and that either run draws from at any time."""
    moving = _moving(continued) | _moving(resumed)
    named = ((name, "") for name in elsewhere(continued, resumed) if name in moving)
    return tuple(_gaps(named, continued, resumed, others))


def beside_a_batch(
    continued: Side, resumed: Side, iteration: int, others: Mapping[int, States] = NO_RANKS
) -> GeneratorGap | None:
    """Return the first generator that stands elsewhere and that the continued run draws from in the
    iteration in which the resumed run has another batch: that may have moved it, too.
    """
    drawn = _draws(_behind(continued, iteration + 1))
    named = ((name, _place(fact)) for name, fact in drawn if fact.kind != "epoch")
    return next(_gaps(named, continued, resumed, others), None)


def of_steps(continued: Side, resumed: Side) -> GeneratorGap | None:
    """Return a generator that stands elsewhere and that the script itself draws from until the next
    step: where no loader hands batches out, it makes them, one ahead or several for one step.
    """
    second = continued.first + 1
    drawn = _draws(_behind(continued, second - continued.offset + 1))
    # facts that show a draw of the script itself, where no loader hands batches out
    own = [name for name, fact in drawn if fact.kind in ("rng", "batch")]
    named = zip(own, repeat("the script"))
    return next(_gaps(named, continued, resumed), None)


def of_order(continued: Side, resumed: Side, names: Iterable[str]) -> GeneratorGap | None:
    """Return one of the generators from which the first order was drawn that stands elsewhere
    although a state was put back.
    """
    found = _gaps(zip(names, repeat("")), continued, resumed)
    return next((gap for gap in found if gap.restored), None)


def _gaps(
    named: Iterable[tuple[str, str]],
    continued: Side,
    resumed: Side,
    others: Mapping[int, States] = NO_RANKS,
) -> Iterator[GeneratorGap]:
    """Yield those of some generators that stand elsewhere; each with what draws from it."""
    apart = elsewhere(continued, resumed)
    for name, drawer in named:
        if name in apart:
            yield _gap(name, drawer, continued, resumed, others)


def elsewhere(continued: Side, resumed: Side) -> list[str]:
    """Return the generators that do not stand in the same state."""
    both = continued.states.keys() & resumed.states.keys()
    return sorted(
        name for name in both if not _same(name, continued.states[name], resumed.states[name])
    )


def unrestored(continued: Side, resumed: Side) -> list[str]:
    """Return the generators that stand elsewhere, that the continued run draws from at all, and of
    which no state was put back.
    """
    restored = {fact.place for fact in resumed.before("restore")}
    moving = _moving(continued)
    apart = elsewhere(continued, resumed)
    return [name for name in apart if name in moving and _base(name) not in restored]


def _same(name: str, one: str, other: str) -> bool:
    if one == other or mersenne_twister.form_of(name) != "torch":
        return one == other
    return b64decode(one)[_SEED_OF_TORCH:] == b64decode(other)[_SEED_OF_TORCH:]


def drawers(side: Side, until: float = inf) -> dict[str, str]:
    """Return generator -> what draws from it first behind the point, in words of the place."""
    found: dict[str, str] = {}
    for name, fact in _draws(_behind(side, until)):
        found.setdefault(name, _place(fact))
    return found


def _behind(side: Side, until: float) -> list[Seen]:
    """Return the facts behind the point, before an iteration of the resumed run."""
    return [fact for fact in side.trace.seen[side.start :] if fact.iteration - side.offset < until]


def _place(fact: Seen) -> str:
    if fact.kind == "epoch":
        return f"the order of {fact.place}"
    # the script makes and calls such a generator itself
    if fact.kind == "rng" or fact.class_ == "tf.random.Generator":
        return "the script"
    if fact.place.startswith(NO_LOADER):
        return f"`{fact.place.removeprefix(NO_LOADER)}`"
    if fact.kind != "call" or not fact.place:
        return place(place_of(fact))
    return f"`{fact.place}` ({fact.class_})"


def _moving(side: Side) -> set[str]:
    """Return the generators that a run draws from at any time that was recorded."""
    return {name for name, _ in _draws(side.trace.seen)}


def _draws(facts: Iterable[Seen]) -> Iterator[tuple[str, Seen]]:
    """Yield each draw that shows: the generator, and the fact that shows it.

    Between two looks at the generators the script has drawn itself where no other fact has.
    """
    known: dict[str, _Known] = {}
    for fact in facts:
        yield from ((name, fact) for name in fact.after)
        if fact.kind == "call":
            _follow(fact, known)
        else:
            for name in (*fact.after, *_NOT_LOOKED_AT.get(fact.kind, (fact.place,))):
                known.pop(name, None)
        if fact.kind == "boundary":  # says where those stand, too, that the script never touched
            known = {name: one for name, one in known.items() if one.state != UNMOVED}
        if fact.kind in ("rng", "boundary"):
            states = fact.before
            yield from ((name, fact) for name in known if known[name].is_passed(states.get(name)))
            known = {name: _Known(state) for name, state in states.items()}


@dataclass(slots=True)
class _Known:
    """A generator between two looks at it.

    state  where it stood when it was last seen
    since  where it stood in front of the first draw that no call has made so far; None: none shows
    """

    state: str
    since: str | None = None

    def is_passed(self, state: str | None) -> bool:
        """Return whether something else than a call has drawn until it stands in this state."""
        return self.since is not None or self.state != state


def _follow(call: Seen, known: Mapping[str, _Known]) -> None:
    """Follow the generators that a call of a module moved.

    An outer module is told of behind the ones in it: a draw in front of an inner call is its own
    where it began in the state before that draw.
    """
    for name, began in call.before.items():
        one = known.get(name)
        if one is None or name not in call.after:
            continue
        if began == one.since:
            one.since = None
        elif began != one.state and one.since is None:
            one.since = one.state
        one.state = call.after[name]


def _gap(
    name: str, drawer: str, continued: Side, resumed: Side, others: Mapping[int, States]
) -> GeneratorGap:
    was = mersenne_twister.state_of(name, continued.states[name])
    now = mersenne_twister.state_of(name, resumed.states[name])
    ahead = mersenne_twister.ahead(was, now)
    restore, reseeded, seed = _history(name, resumed)
    since = None
    if seed is not None and seed.seed is not None:
        since = mersenne_twister.ahead(mersenne_twister.seeded(_base(name), seed.seed), now)
    state = resumed.states[name]
    same = (_Given(rank) for rank, states in others.items() if states.get(name) == state)
    given = next(same, _NO_RANK)
    if given is _NO_RANK and restore is not None and ahead is None:
        given = _behind_a_rank(name, now, others)
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
        of_rank=given.rank,
        ahead_of_rank=given.since,
    )


def _history(name: str, side: Side) -> tuple[Seen | None, SeedSet | None, SeedSet | None]:
    """Return, of a generator before the point, the last state that was put back, the seed that
    was set after it, and the last seed of all.
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
        last = _seed(fact)
        if restore is not None:
            after = last
    return restore, after, last


def _seed(fact: Seen) -> SeedSet:
    values = [leaf.value for _, leaf in fact.outputs]
    number = values[0] if values and isinstance(values[0], int) else None
    return SeedSet(seed=number, line=fact.line, by=fact.by)


@dataclass(frozen=True, slots=True)
class _Given:
    """A rank whose state a generator was given, and draws of 32 bits since then."""

    rank: int | None
    since: int = 0


_NO_RANK = _Given(None)


def _behind_a_rank(
    name: str, now: mersenne_twister.State | None, others: Mapping[int, States]
) -> _Given:
    """Return, of a state that its own generator does not come to, the rank whose generator does."""
    for rank, states in others.items():
        since = mersenne_twister.ahead(mersenne_twister.state_of(name, states.get(name, "")), now)
        if since is not None and since > 0:
            return _Given(rank, since)
    return _NO_RANK


def _base(name: str) -> str:
    """Return the generator that a seed names: `cuda` of `cuda:0`."""
    return name.partition(":")[0]
