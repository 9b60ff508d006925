"""The sentences on what remains of a difference that no control removes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reprocheck.model.statements.search import Remains
from reprocheck.wording.say import say
from reprocheck.wording.search import named

_MOST_QUOTED = 3
"""Controls that are named of those under which runs agreed by luck."""
_MOST_NOISE = 4
"""Sentences on what makes noise, the place included."""


@say.register
def remaining(remains: Remains) -> str:
    """Say in one or more sentences which difference remains if no control makes the runs agree."""
    tried = f"No control makes the runs agree, alone or together with others{_left_out(remains)}"
    match remains.kind:
        case "idle":
            parts = [_idle(remains.idle)]
        case "few tried":
            parts = [
                f"No control was seen to make the runs agree{_left_out(remains)}. The difference is"
                " intermittent, so few controls were tried: --runs N tries more."
            ]
        case "nothing recorded":
            parts = [
                f"{tried}. Nothing that was recorded differs, so the source of the difference was"
                " not recorded."
            ]
        case "given":
            parts = [f"{tried}, because the runs were given different inputs."]
            parts += map(say, remains.given)
        case "noise":
            parts = [f"{tried}: what remains is noise of an operator or of the hardware."]
            parts += [_made_by(remains), *map(say, remains.operators)][:_MOST_NOISE]
        case "unreached":
            parts = [*_unreached(remains, tried), *map(say, remains.given)]
    parts += [
        f"{line} reads `{name}`: the controls leave monotonic clocks alone, so none can confirm it."
        for line, name in remains.clocks
    ]
    return " ".join(parts)


def _left_out(remains: Remains) -> str:
    if not remains.crashing:
        return ""
    them = "it" if len(remains.crashing) == 1 else "them"
    return f" ({named(remains.crashing)} left out, because the script fails under {them})"


def _idle(names: Sequence[str]) -> str:
    """Say that runs agreed under controls that had no visible effect."""
    if len(names) > _MOST_QUOTED:
        agree = f"{len(names)} controls at once, but those that acted do not suffice"
    else:
        they = "it" if len(names) == 1 else "they"
        agree = f"{named(names)}, but nothing recorded shows that {they} acted"
    return f"No cause is confirmed: runs agree under {agree}, so this may be luck."


def _made_by(remains: Remains) -> str:
    """Say which operator makes noise, and at which place it shows first."""
    place = f"`{remains.place}`" if remains.place else "the loss"
    seen = f"first seen at {place} on the rung `{remains.rung}`"
    operator = say(remains.culprit)
    if remains.operator and not operator:
        operator = f"`{remains.operator}`"
    if operator:
        return f"It comes from {operator}, and is {seen}."
    return f"It is {seen}."


def _unreached(remains: Remains, tried: str) -> Iterator[str]:
    """Yield sentences on a difference that is no noise, and that no control removes."""
    suspect, culprit = remains.suspect, say(remains.culprit)
    if suspect is None:
        yield (
            f"{tried}: the source of the difference is out of reach of every control, such as a"
            " service, a native library that draws by itself, a race between threads, or the"
            " hardware."
        )
    else:
        yield f"{tried}."
        yield (
            f"The {suspect.confidence} cause is {suspect.code} at {suspect.at}, and no control"
            " confirms it."
        )
    place = f" at `{remains.place}`" if remains.place else ""
    yield f"It first shows on the rung `{remains.rung}`{place}."
    if culprit:
        yield f"It comes from {culprit}."
