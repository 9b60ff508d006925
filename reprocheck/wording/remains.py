"""The sentences on what remains of a difference that no control removes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reprocheck.language import sentences
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
    return (
        f"{line} reads `{name}`: the controls leave monotonic clocks alone, so none can confirm it."
    )


def _idle(remains: Remains) -> str:
    """Run agreed under controls that did nothing that shows."""
    names = remains.idle
    if len(names) > _MOST_QUOTED:
        agree = f"{len(names)} controls at once, but those that acted do not suffice"
    else:
        they = "it" if len(names) == 1 else "they"
        agree = f"{named(names)}, but nothing recorded shows that {they} acted"
    return f"No cause is confirmed: runs agree under {agree}, so this may be luck."


def _left_out(remains: Remains) -> str:
    if not remains.crashing:
        return ""
    them = "it" if len(remains.crashing) == 1 else "them"
    return f" ({named(remains.crashing)} left out, because the script fails under {them})"


def _tried(remains: Remains) -> str:
    return f"No control makes the runs agree, alone or together with others{_left_out(remains)}"


def _few_tried(remains: Remains) -> str:
    return (
        f"No control was seen to make the runs agree{_left_out(remains)}. The difference"
        " is intermittent, so few controls were tried: --runs N tries more."
    )


def _nothing_recorded(remains: Remains) -> str:
    return (
        f"{_tried(remains)}. Nothing that was recorded differs, so the source of the"
        " difference was not recorded."
    )


def _given_otherwise(remains: Remains) -> str:
    said = f"{_tried(remains)}, because the runs were given different inputs."
    return sentences(said, *map(say, remains.given))


def _noise(remains: Remains) -> str:
    """Return the operator, from the ladder and the lists."""
    at = f"`{remains.place}`" if remains.place else "the loss"
    rung, made_by = remains.rung, say(remains.culprit)
    if remains.operator and not made_by:
        made_by = f"`{remains.operator}`"
    made = f"It is first seen at {at} on the rung `{rung}`."
    if made_by:
        made = f"It comes from {made_by}, and is first seen at {at} on the rung `{rung}`."
    noise = [made, *map(say, remains.operators)][:_MOST_NOISE]
    said = f"{_tried(remains)}: what remains is noise of an operator or of the hardware."
    return sentences(said, *noise)


def _unreached(remains: Remains) -> str:
    rung, culprit = remains.rung, say(remains.culprit)
    shows = f"It first shows on the rung `{rung}`."
    if remains.place:
        shows = f"It first shows on the rung `{rung}` at `{remains.place}`."
    said = [*_not_by_control(_tried(remains), remains.suspect), shows]
    if culprit:
        said.append(f"It comes from {culprit}.")
    return sentences(*said, *map(say, remains.given))


def _not_by_control(tried: str, suspect: NamedCause | None) -> tuple[str, ...]:
    """Return the line of the first cause, where it has one: then there is more to say than that no
    control reaches it.
    """
    if suspect is None:
        out_of_reach = (
            f"{tried}: the source of the difference is out of reach of every control, such"
            " as a service, a native library that draws by itself, a race between threads,"
            " or the hardware."
        )
        return (out_of_reach,)
    unconfirmed = (
        f"The {suspect.confidence} cause is {suspect.code} at {suspect.at}, and no"
        " control confirms it."
    )
    return f"{tried}.", unconfirmed


_REMAINS: Mapping[Remaining, Callable[[Remains], str]] = {
    "idle": _idle,
    "few tried": _few_tried,
    "nothing recorded": _nothing_recorded,
    "given": _given_otherwise,
    "noise": _noise,
    "unreached": _unreached,
}
