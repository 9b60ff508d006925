"""The search for a smallest set of controls and patches that makes the runs agree.

The functions start no runs: they ask questions, which recorded runs answer. The search is written
as if every answer were there. If one is missing, `Unanswered` says which runs to make; the caller
makes them and starts the search again, and questions that were answered before cost no run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import filterfalse

from reprocheck.model.controls import is_fix
from reprocheck.model.reason import Reason
from reprocheck.search.experiments import Ask, Differing, Experiments, Needed, Together, halves
from reprocheck.search.request import PAIR, Answer, Candidates, Found, Question

MOST_PLACES = 4
"""Places of a control at most that are left out in turn: of more, none is."""
ALONE = 2
"""Likely controls that are tried alone before all are tried together, and others that acted after:
they take fewer runs than halves, and a set of several is named only where no control suffices
alone.
"""
FURTHER = 2
"""Controls that are added at a time of those that the first difference under others speaks for."""
MOST_LED = 4
"""How often that is done at most."""


def find(
    candidates: Candidates,
    ask: Ask,
    needed: Needed,
    *,
    runs: int = PAIR,
    most: int = sys.maxsize,
    whole: bool = True,
    differing: Differing = lambda names: None,
) -> Found:
    """Return a smallest set of controls under which runs agree by more than chance.

    In as many runs as exclude chance.

    runs       runs of an arm (one set of controls): two unless the difference is intermittent
    most       the largest number of runs made under the final set, even if chance needs more to be
               excluded
    whole      whether a set can be confirmed; if not, only the likely controls and all harmless
               ones are tried
    differing  a function that returns where runs under controls that do not suffice first differ

    Raises Unanswered if runs are missing.
    """
    arms = Experiments(candidates=candidates, ask=ask, runs=runs, differing=differing)
    refuted: set[tuple[str, ...]] = set()
    while True:
        smallest = with_parts(arms, _smallest(arms, STAGES if whole else FEW_STAGES))
        if not smallest or smallest in refuted:
            return Found(crashing=arms.crashing, idle=arms.idle, complete=whole)
        answer = arms.confirmed(smallest, needed, most)
        if answer.agrees and (not whole or arms.all_act(smallest, answer)):
            at = needed_at(arms, smallest, answer) if whole else {}
            return Found(smallest=smallest, runs=answer.runs, crashing=arms.crashing, needed=at)
        refuted.add(smallest)
        if answer.agrees:
            arms.note_luck(smallest)
            continue
        # A few runs had agreed by chance: the difference is intermittent, so as many say nothing
        # from here on.
        arms.runs, arms.reference = max(arms.runs, answer.runs), ()


def _smallest(arms: Experiments, stages: Iterable[Stage]) -> tuple[str, ...]:
    """Return the set of the first stage that ends the search; empty if no stage ends it."""
    sets = (stage(arms) for stage in stages)
    return next((one for one in sets if one is not None), ())


def patches_of_unreached(arms: Experiments) -> tuple[str, ...] | None:
    """Try the patches first if the scan is sure of a source that no control reaches."""
    return patches(arms) if arms.candidates.unreached else None


def likely_alone(arms: Experiments) -> tuple[str, ...] | None:
    """Try likely controls one by one.

    None if several causes are sure, and only the first if more causes are named than can be tried
    alone.
    """
    if len(arms.candidates.sure) > 1:
        return None
    most = 1 if len(arms.candidates.suspects) > ALONE else ALONE
    return arms.first_alone(arms.candidates.likely[:most], arms.reason) or None


def suspects_together(arms: Experiments) -> tuple[str, ...] | None:
    """Try one control for each named cause at once.

    Without controls that acted on nothing alone.
    """
    together = of_suspects(arms)
    return without_needless(arms, together) if arms.is_enough(together) else None


def of_suspects(arms: Experiments) -> Together:
    """Return what runs say under one control for each named cause, tried together."""
    suspects = tuple(filterfalse(arms.is_inert, arms.candidates.suspects))
    why = Reason(key="suspects together")
    if len(suspects) == 1:
        why = arms.reason(suspects[0])
    return arms.together(suspects, why, deep=True)


def next_differences(arms: Experiments) -> tuple[str, ...] | None:
    """Add the controls that the next difference suggests, as long as that moves it."""
    names, before = of_suspects(arms).names, arms.candidates.first
    for _ in range(MOST_LED):
        left = arms.differing(names) if arms.differ_under(names) else None
        if left is None or before is None or not left.is_behind(before):
            break
        before = left
        others = [one for one in arms.not_crashing(left.controls) if one not in names]
        further = tuple(others[:FURTHER])
        if not further:
            break
        more = arms.candidates.ordered((*names, *further))
        why = Reason(key="next difference", names=further)
        together = arms.together(more, why, deep=True)
        if arms.is_enough(together):
            return without_needless(arms, together)
        names = together.names
    return None


def patches_if_unreached(arms: Experiments) -> tuple[str, ...] | None:
    """Try the patches if a control for a named cause acted on nothing."""
    return None if arms.reached().issuperset(arms.candidates.suspects) else patches(arms)


def last_where_others_are_idle(arms: Experiments) -> tuple[str, ...] | None:
    """Try the control that alters the training early, if no other for a named cause acts."""
    suspects = arms.candidates.suspects
    return last_alone(arms) if suspects and all(map(arms.is_inert, suspects)) else None


def all_harmless(arms: Experiments) -> tuple[str, ...] | None:
    """Try all controls that do not alter the training."""
    together = of_harmless(arms)
    return narrowed(arms, together) if together.agree else None


def of_harmless(arms: Experiments) -> Together:
    """Return what runs say under all controls that do not alter the training."""
    return arms.together(arms.candidates.harmless, Reason(key="all harmless"))


def some_harmless(arms: Experiments) -> tuple[str, ...]:
    """Try all harmless controls, and return the whole set if it suffices.

    It is not made smaller, because no set can be confirmed here.
    """
    together = of_harmless(arms)
    return together.names if arms.is_enough(together) else ()


def patches(arms: Experiments) -> tuple[str, ...] | None:
    """Try the patches without any control."""
    together = arms.together(arms.candidates.fixes, Reason(key="patches together"))
    return without_needless(arms, together) if arms.is_enough(together) else None


def patches_and_harmless(arms: Experiments) -> tuple[str, ...] | None:
    """Try controls and patches together, because neither suffice alone.

    Skipped if no process was given the patched text.
    """
    fixes = arms.candidates.fixes
    if arms.reached().isdisjoint(fixes):
        return None
    names = (*of_harmless(arms).names, *fixes)
    together = arms.together(names, Reason(key="harmless and patches"))
    return narrowed(arms, together) or None


def last_alone(arms: Experiments) -> tuple[str, ...] | None:
    """Try the control that a cause suggests, and that alters the training, alone."""
    return arms.first_alone(arms.candidates.last[:1], arms.reason) or None


def with_altering(arms: Experiments) -> tuple[str, ...]:
    """Try all controls."""
    every = (*arms.candidates.altering, *of_harmless(arms).names)
    return narrowed(arms, arms.together(every, Reason(key="altering, too")))


Stage = Callable[[Experiments], tuple[str, ...] | None]
"""Returns a set that suffices, an empty one to end the search, or None to go on."""
STAGES: tuple[Stage, ...] = (
    patches_of_unreached,
    likely_alone,
    suspects_together,
    next_differences,
    patches_if_unreached,
    last_where_others_are_idle,
    all_harmless,
    patches,
    patches_and_harmless,
    last_alone,
    with_altering,
)
"""What is tried, one after the other."""
FEW_STAGES: tuple[Stage, ...] = (likely_alone, suspects_together, some_harmless)
"""The same where no set can be confirmed."""


def narrowed(arms: Experiments, suffices: Together) -> tuple[str, ...]:
    """Return a minimal part of a sufficient set; a single control if one suffices.

    Empty if the runs do not agree, or the controls that acted do not suffice.
    """
    if not suffices.agree:
        return ()
    acting = [name for name in suffices.names if name in suffices.acted]
    silent = [name for name in arms.silent(suffices.names) if name not in acting]
    if arms.acts_unseen(silent, acting):
        needed = minimal(arms, acting, silent, known=True)
        arms.shown.intersection_update(needed)
        acting = list(arms.candidates.ordered([*acting, *needed]))
    if not acting or arms.differ_under(acting):
        arms.note_luck(suffices.names)
        return ()
    suspects = (*arms.candidates.suspects, *arms.candidates.fixes)
    named = [name for name in acting if name in suspects]
    others = [name for name in acting if name not in named]
    if any(map(is_fix, named)) and arms.agrees(named, _without(others)):
        return without_needless(arms, _all(named))
    if named and arms.differ_under(named):
        # What is named removes a part at least: what is missing beside it is looked for.
        missing = minimal(arms, named, others, known=True)
        return without_needless(arms, _all(arms.candidates.ordered([*named, *missing])))
    return one_or_halves(arms, acting)


def one_or_halves(arms: Experiments, acting: Sequence[str]) -> tuple[str, ...]:
    """Return a single control of a sufficient set if one suffices, else a minimal part.

    The part is found by halving.
    """
    tried = [name for name in acting if arms.differ_under([name])]
    fresh = [name for name in acting if name not in tried]
    alone = arms.first_alone(fresh[:ALONE], _alone)
    if alone:
        return alone
    left = fresh[ALONE:]
    if left and arms.agrees(left, _without([*tried, *fresh[:ALONE]])):
        return halved(arms, left, left)
    return halved(arms, [*fresh, *tried], fresh)


def halved(arms: Experiments, suffices: Sequence[str], fresh: Sequence[str]) -> tuple[str, ...]:
    """Return a minimal part of sufficient controls, found by halving.

    One control of `fresh` if it suffices alone.
    """
    found = minimal(arms, (), suffices, known=True)
    if len(found) > 1:
        return arms.first_alone(fresh, _alone) or arms.candidates.ordered(found)
    return found


def minimal(
    arms: Experiments, base: Sequence[str], names: Sequence[str], *, known: bool
) -> tuple[str, ...]:
    """Return the controls of `names` that are needed beside `base`.

    `base` and all `names` together suffice.

    `known` says that `base` alone is known not to suffice.
    """
    if not known and arms.agrees(base, _without(names)):
        return ()
    if len(names) == 1:
        return tuple(names)
    first, second = halves(names)
    of_second = minimal(arms, (*base, *first), second, known=False)
    of_first = minimal(arms, (*base, *of_second), first, known=not of_second)
    return (*of_first, *of_second)


def without_needless(arms: Experiments, suffices: Together) -> tuple[str, ...]:
    """Return the needed part of suspects that suffice together, by leaving out each in turn.

    Those that acted on nothing are left out first, then the least suspicious.
    """
    needed = list(suffices.names)
    idle = [name for name in needed if name not in suffices.acted]
    useless = [name for name in idle if name not in arms.candidates.silent]
    each = [name for name in reversed(needed) if name not in useless]
    for left_out in (useless, *([name] for name in each)):
        others = [one for one in needed if one not in left_out]
        if left_out and others and arms.agrees(others, _without(left_out)):
            needed = others
    return arms.candidates.ordered(needed)


def with_parts(arms: Experiments, smallest: tuple[str, ...]) -> tuple[str, ...]:
    """Return the set with a control replaced by a part of it, if that suffices.

    A control that does two things proves neither of the two as long as one may be enough.
    """
    for name in smallest:
        for part in arms.candidates.ordered(arms.candidates.parts.get(name, ())):
            others = [one for one in smallest if one != name]
            why = Reason(key="a part of it", names=(name, part))
            if arms.agrees([*others, part], why):
                return arms.candidates.ordered([*others, part])
    return smallest


def needed_at(
    arms: Experiments, smallest: tuple[str, ...], answer: Answer
) -> dict[str, tuple[str, ...]]:
    """Return control -> the places at which it has to act, found by leaving out each place in turn.

    Only for controls that acted at several places.
    """
    if arms.runs > PAIR or any(map(is_fix, smallest)):
        return {}  # a patch moves lines
    needed: dict[str, tuple[str, ...]] = {}
    for name in smallest:
        places = answer.places.get(name, ())
        if not 2 <= len(places) <= MOST_PLACES:
            continue
        differ = [place for place in places if differ_without(arms, name, place, smallest)]
        if differ:
            needed[name] = tuple(differ)
    return needed


def differ_without(arms: Experiments, name: str, place: str, smallest: tuple[str, ...]) -> bool:
    """Return whether the runs differ if a control of a set does not act at a place."""
    asked = Question(
        controls=smallest,
        runs=PAIR,
        why=Reason(key="not at a place", names=(name,), place=place),
        reference=smallest,
        spared=(f"{name}@{place}",),
    )
    return arms.ask(asked).agrees is False


def _all(names: Sequence[str]) -> Together:
    """Return controls under which the runs agree, and each of which acted."""
    return Together(tuple(names), agree=True, acted=frozenset(names))


def _without(names: Sequence[str]) -> Reason:
    return Reason(key="without", names=tuple(names))


def _alone(name: str) -> Reason:
    return Reason(key="alone", names=(name,))
