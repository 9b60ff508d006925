"""The text of a script that saves and loads what it had lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reprocheck.resume.fix import parts
from reprocheck.resume.fix.draft import Draft
from reprocheck.resume.fix.going_on import before_the_loop, within_the_loop
from reprocheck.resume.fix.passes import Pass, pass_of
from reprocheck.resume.fix.source import read
from reprocheck.resume.fix.states import State, defaults, of_the_order
from reprocheck.resume.model import StateRungName

_POSITION = "RC113"
_TOO_EARLY = {"RC109", "RC110"}
"""Mechanisms of a generator that was put back, and what came behind it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """What a patch is for.

    rungs       that are confirmed, or were put back
    codes       of their mechanisms
    generators  those that are not what they were, such as `torch` or `cuda:0`
    other_data  whether a batch differs
    """

    rungs: Sequence[StateRungName]
    codes: Sequence[str] = ()
    generators: Sequence[str] = ()
    other_data: bool = False


def patched(text: str, line: int, lost: Lost) -> str:
    """The text of a script that saves its checkpoint on a line, with what was lost saved and
    loaded; "" where that is not known, or all of it is there already.
    """
    source = read(text, line)
    if source is None:
        return ""
    draft = Draft(text, source)
    parts.add(draft, lost.rungs)
    _add_states(draft, lost)
    return draft.text()


def _add_states(draft: Draft, lost: Lost) -> None:
    """Generators and the order of the data: put back behind what is loaded, or around the loop
    where what comes before it would change them again.
    """
    place = pass_of(draft.source)
    drawn: list[State] = []
    if "RNG state" in lost.rungs:
        drawn += defaults(draft.source, lost.generators)
    order = _order(draft, place) if lost.other_data else []
    both = _each_once([*drawn, *order])
    position = _POSITION in lost.codes
    if place is not None and place.saves_within:
        due = [state for state in both if state.drawn]
        if both or position:
            within_the_loop(draft, place, due, order, position=position)
    elif place is not None and drawn and _TOO_EARLY & {*lost.codes}:
        before_the_loop(draft, place, drawn)
    else:
        _load(draft, both)


def _order(draft: Draft, place: Pass | None) -> list[State]:
    """What the order is made from, where it is known at all places that save it and put it back."""
    places = [draft.source.saved, draft.source.behind]
    if place is not None and place.saves_within:
        places.append(place.loop)
    return list(of_the_order(draft.source, {*map(draft.source.script.scope, places)}))


def _each_once(states: Sequence[State]) -> list[State]:
    return list(dict.fromkeys(states))


def _load(draft: Draft, states: Sequence[State]) -> None:
    """Behind what is loaded already, unless it is put back anywhere."""
    for state in states:
        if state.setter not in draft.source.script.called:
            draft.save(state.key, state.read)
            draft.load(state.set_to(f'{draft.source.loaded}["{state.key}"]'))
