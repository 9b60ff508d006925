"""The sentences on what remains of a difference that no control removes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reprocheck.language import form, sentences, tr
from reprocheck.model.statements.search import NamedCause, Remaining, Remains
from reprocheck.wording.say import say
from reprocheck.wording.search import named

_MOST_QUOTED = 3
"""Controls that are named of those under which runs agreed by luck."""
_MOST_NOISE = 4
"""Sentences on what makes noise, the place included."""


@say.register
def remaining(remains: Remains) -> str:
    """Return what remains where no control makes the runs agree: one or more sentences."""
    return sentences(_REMAINS[remains.kind](remains), *map(_clock, remains.clocks))


def _clock(read: tuple[str, str]) -> str:
    """Return a clock that a cause names and no control reaches."""
    line, name = read
    return tr(
        "{line} reads `{name}`: the controls leave monotonic clocks alone, so none can confirm it.",
        line=line,
        name=name,
    )


def _idle(remains: Remains) -> str:
    """Run agreed under controls that did nothing that shows."""
    names = remains.idle
    if len(names) > _MOST_QUOTED:
        agree = tr(
            "{names} controls at once, but those that acted do not suffice", names=len(names)
        )
    else:
        agree = form(
            len(names),
            "{both}, but nothing recorded shows that it acted",
            "{both}, but nothing recorded shows that they acted",
            both=named(names),
        )
    return tr("No cause is confirmed: runs agree under {agree}, so this may be luck.", agree=agree)


def _left_out(remains: Remains) -> str:
    if not remains.crashing:
        return ""
    return form(
        len(remains.crashing),
        " ({names} left out, because the script fails under it)",
        " ({names} left out, because the script fails under them)",
        names=named(remains.crashing),
    )


def _tried(remains: Remains) -> str:
    return tr(
        "No control makes the runs agree, alone or together with others{left_out}",
        left_out=_left_out(remains),
    )


def _few_tried(remains: Remains) -> str:
    return tr(
        "No control was seen to make the runs agree{left_out}. The difference is"
        " intermittent, so few controls were tried: --runs N tries more.",
        left_out=_left_out(remains),
    )


def _nothing_recorded(remains: Remains) -> str:
    return tr(
        "{tried}. Nothing that was recorded differs, so the source of the difference"
        " was not recorded.",
        tried=_tried(remains),
    )


def _given_otherwise(remains: Remains) -> str:
    said = tr("{tried}, because the runs were given different inputs.", tried=_tried(remains))
    return sentences(said, *map(say, remains.given))


def _noise(remains: Remains) -> str:
    """Return the operator, from the ladder and the lists."""
    at = f"`{remains.place}`" if remains.place else tr("the loss")
    rung, made_by = tr(remains.rung), say(remains.culprit)
    if remains.operator and not made_by:
        made_by = f"`{remains.operator}`"
    made = tr("It is first seen at {at} on the rung `{rung}`.", at=at, rung=rung)
    if made_by:
        made = tr(
            "It comes from {made_by}, and is first seen at {at} on the rung `{rung}`.",
            made_by=made_by,
            at=at,
            rung=rung,
        )
    noise = [made, *map(say, remains.operators)][:_MOST_NOISE]
    said = tr(
        "{tried}: what remains is noise of an operator or of the hardware.", tried=_tried(remains)
    )
    return sentences(said, *noise)


def _unreached(remains: Remains) -> str:
    rung, culprit = tr(remains.rung), say(remains.culprit)
    shows = tr("It first shows on the rung `{rung}`.", rung=rung)
    if remains.place:
        shows = tr(
            "It first shows on the rung `{rung}` at `{place}`.", rung=rung, place=remains.place
        )
    said = [*_not_by_control(_tried(remains), remains.suspect), shows]
    if culprit:
        said.append(tr("It comes from {culprit}.", culprit=culprit))
    return sentences(*said, *map(say, remains.given))


def _not_by_control(tried: str, suspect: NamedCause | None) -> tuple[str, ...]:
    """Return the line of the first cause, where it has one: then there is more to say than that no
    control reaches it.
    """
    if suspect is None:
        out_of_reach = tr(
            "{tried}: the source of the difference is out of reach of every control, such as a"
            " service, a native library that draws by itself, a race between threads, or the"
            " hardware.",
            tried=tried,
        )
        return (out_of_reach,)
    unconfirmed = tr(
        "The {confidence} cause is {code} at {line}, and no control confirms it.",
        confidence=tr(suspect.confidence),
        code=suspect.code,
        line=suspect.at,
    )
    return tr("{sentence}.", sentence=tried), unconfirmed


_REMAINS: Mapping[Remaining, Callable[[Remains], str]] = {
    "idle": _idle,
    "few tried": _few_tried,
    "nothing recorded": _nothing_recorded,
    "given": _given_otherwise,
    "noise": _noise,
    "unreached": _unreached,
}
