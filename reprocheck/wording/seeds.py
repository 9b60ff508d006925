"""The sentences on a seed that must change a training."""

from __future__ import annotations

from reprocheck.language import mark, shortlist, tr
from reprocheck.model.seeds import (
    Overriding,
    SeedChangesNothing,
    SeedEffect,
    SeedingCall,
    SeedNotJudged,
    SeedOrigin,
    SeedOverridden,
    SeedRunEnded,
)
from reprocheck.settings.must_differ import PLACEHOLDER
from reprocheck.wording.say import say

_NOT_JUDGED = {
    "no seed": mark(
        "the effect of a seed cannot be judged: the command has no {placeholder} and no argument"
        " such as --seed, and no call that seeds was seen"
    ),
    "runs differ": mark(
        "the effect of a seed cannot be judged: runs with one seed differ from iteration"
        " {iteration} on"
    ),
    "not made": mark(
        "the effect of a seed cannot be judged: no run with another seed was compared"
    ),
}


def another_seed(origin: SeedOrigin) -> str:
    """Announce the run with another seed."""
    return f"One run with another seed: {changed(origin)}."


def changed(origin: SeedOrigin) -> str:
    """Return what was changed: `--seed: 43 in place of 42`."""
    line = f" ({origin.source.at})" if origin.source else ""
    name = origin.name
    if origin.kind == "parsed":
        name = tr("the parsed `{name}`", name=name)
    return tr(
        "{name}{line}: {other} in place of {value}",
        name=name,
        line=line,
        other=origin.other,
        value=origin.value,
    )


def call(overriding: Overriding) -> str:
    """Return a call that seeds: `args.data_seed = 42 (train.py:30)`, `torch.manual_seed(0)`."""
    made = f"{overriding.call.what}({overriding.call.value})"
    if overriding.call.setting:
        made = f"{overriding.call.setting} = {overriding.call.value}"
    source = overriding.source
    return f"{made} ({source.at})" if source else made


@say.register
def _(statement: SeedChangesNothing) -> str:
    effect = statement.effect
    return tr(
        "another seed leaves the losses of {iterations} iterations as they are, in every bit:"
        " {changed}",
        iterations=effect.iterations,
        changed=changed(effect.origin),
    )


@say.register
def _(statement: SeedOverridden) -> str:
    effect = statement.effect
    unread = "" if effect.reached else _unread(effect)
    if not effect.overriding:
        return unread or tr("What is drawn with this seed does not reach the losses.")
    names = shortlist([call(one) for one in effect.overriding])
    if unread:
        return tr("{unread} Generators are fixed by {names}.", unread=unread, names=names)
    return tr("The seed is overridden by {names}.", names=names)


def _unread(effect: SeedEffect) -> str:
    parsed: SeedingCall | None = effect.parsed
    if parsed is None or parsed.source is None:
        return tr("The seed reaches no call that seeds.")
    return tr(
        "`{name}` is parsed ({line}), and nothing is seeded with it.",
        name=parsed.what,
        line=parsed.source.at,
    )


@say.register
def _(statement: SeedNotJudged) -> str:
    if statement.why != "nothing drawn":
        return tr(
            _NOT_JUDGED[statement.why], iteration=statement.iteration, placeholder=PLACEHOLDER
        )
    if statement.iteration:
        return tr(
            "the effect of a seed cannot be judged: up to the last loss of {iterations} iterations"
            " nothing is drawn from a generator; the first draw is in iteration {first}",
            iterations=statement.iterations,
            first=statement.iteration,
        )
    return tr(
        "the effect of a seed cannot be judged: in {iterations} iterations nothing was seen to be"
        " drawn from a generator",
        iterations=statement.iterations,
    )


@say.register
def _(statement: SeedRunEnded) -> str:
    what = changed(statement.origin)
    if statement.ended == "timed_out":
        return tr("the run with another seed took longer than the timeout ({what})", what=what)
    return tr(
        "the run with another seed ended with exit status {status} ({what}); those with one seed"
        " agree",
        status=statement.exit_status,
        what=what,
    )


def effect_of(effect: SeedEffect) -> str:
    """Say what another seed changed."""
    if effect.differs:
        return f"{changed(effect.origin)}: the losses differ from iteration {effect.first} on"
    return changed(effect.origin)


def equal_up_to(effect: SeedEffect) -> str:
    """Say up to which rung the runs with both seeds are equal; "" where they differ."""
    if effect.differs is not False:
        return ""
    if effect.rung is None:
        return "all that was recorded, to the last update, and all losses"
    return f"what stands before the {effect.rung}, and all losses"
