"""The texts of a script that saves and loads what it had lost."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reprocheck.fixes.edits.tree import UNREADABLE
from reprocheck.resume.checkpoint_contents import Archive
from reprocheck.resume.fix.draft import Draft, UnfitError
from reprocheck.resume.fix.loop_patch import before_the_loop, pass_over, within_the_loop
from reprocheck.resume.fix.passes import Pass, has_own_position, loop_around, pass_of
from reprocheck.resume.fix.source import read
from reprocheck.resume.fix.states import State, generators, of_the_order, parts, value_of
from reprocheck.resume.gap.archive import words_of
from reprocheck.resume.gap.source import keys_of

_POSITION = "RC113"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """The lost state that a patch is to save and load.

    parts       lost parts of optimizers, schedulers, modules and objects of the script, by their
                names in a trace; each with its key in the checkpoint, if the checkpoint holds it
    codes       the codes of the mechanisms by which they were lost
    generators  the generators whose state was lost, such as `torch` or `cuda:0`
    loaded      parts that were loaded, and changed after that
    other_data  whether a batch differs
    """

    parts: Mapping[str, str] = field(default_factory=dict)
    codes: Sequence[str] = ()
    generators: Sequence[str] = ()
    loaded: Sequence[str] = ()
    other_data: bool = False


def patched(texts: Mapping[str, str], archive: Archive, lost: Lost) -> dict[str, str]:
    """Return the files of a script with the lost state saved and loaded.

    {} if that is not possible, or nothing is missing.
    """
    source = read(archive, texts)
    if source is None:
        return {}
    draft = Draft(texts, source)
    try:
        late = _add_parts(draft, lost)
        _add_states(draft, lost, late)
        return draft.texts()
    except (UnfitError, *UNREADABLE):
        return {}


def _add_parts(draft: Draft, lost: Lost) -> list[State]:
    """Save and load lost parts; return the states that can only be set later.

    Only where the loop begins, because the parts are made, or made anew, after the file is read.
    """
    source = draft.source
    calls = source.loading.script.index.calls
    late = []
    for part, state in parts(source, lost.parts):
        # the keys under which the script asks for the part where it loads it
        setters = [one for one in calls if ast.unparse(one.func) == state.setter]
        wanted = [key for call in setters for _, key in keys_of(call, {source.loaded})]
        missing = [key for key in wanted if key not in source.keys]
        if missing:
            _save_as(draft, state, missing[0])
            continue
        if not lost.parts[part]:
            _save_whole(draft, state)
        is_there = part in source.loading.names or part not in source.saving.names
        if part in lost.loaded or not is_there:
            late.append(state)
        else:
            draft.load(state.set_to(value_of(source.loaded, state.key)))
    return late


def _save_as(draft: Draft, state: State, key: str) -> None:
    """Save a part under the key that the script asks for."""
    saved = draft.source.saved
    keys = saved.keys if isinstance(saved, ast.Dict) else []
    named = words_of(state.key)[-1]
    if state.key.startswith("["):
        for written in keys:
            if isinstance(written, ast.Constant) and written.value == named:
                draft.save_instead(written, f'"{key}"')
                return
    draft.save(key, state.read)


def _save_whole(draft: Draft, state: State) -> None:
    """Save the whole state of a part instead of the selection that the script saves."""
    for value in draft.source.held.values():
        text = ast.unparse(value)
        if ".state_dict()" in state.read and state.read in text and text != state.read:
            draft.save_instead(value, state.read)
            return
    draft.save(state.key, state.read)


def _add_states(draft: Draft, lost: Lost, late: Sequence[State]) -> None:
    """Save and put back generators and the order of the data.

    After the file is loaded, or around the loop if code before the loop would change them again.
    """
    source = draft.source
    place = pass_of(source) if source.is_single else None
    position = _POSITION in lost.codes
    if place is not None and has_own_position(source, place):
        position = False
    drawn = list(generators(source, lost.generators))
    order: list[State] = []
    if lost.other_data and source.is_single and (place is not None or not position):
        # known at all places that save it and put it back
        places = [source.saved, source.behind]
        if place is not None and place.saves_within:
            places.append(place.loop)
        order = list(of_the_order(source, {*map(source.script.scope, places)}))
    both = list(dict.fromkeys([*drawn, *order]))
    if place is not None and place.saves_within:
        due = [*late, *(state for state in both if state.drawn)]
        if due or both or position:
            within_the_loop(draft, place, due, order, position=position)
        return
    around = place or loop_around(source)
    if around is not None:
        both = _around_the_loop(draft, lost, around, late, drawn, both)
    for state in both:
        if state.setter not in source.script.called:
            draft.save(state.key, state.read)
            draft.load(state.set_to(value_of(source.loaded, state.key)))


def _around_the_loop(
    draft: Draft,
    lost: Lost,
    loop: Pass,
    late: Sequence[State],
    drawn: Sequence[State],
    states: Sequence[State],
) -> list[State]:
    """Skip the used batches, and put back at the loop the states that change before it.

    Returns the other states.
    """
    if _POSITION in lost.codes:
        pass_over(draft, loop)
    known = {f"{name}." for name in draft.source.loading.names.values()}
    reached = all(any(state.write.startswith(name) for name in known) for state in drawn)
    came_behind = {"RC109", "RC110"} & {*lost.codes}
    is_early = came_behind or not reached or draft.source.seeds_behind
    put_last = [*late, *drawn] if late or is_early else []
    if put_last:
        before_the_loop(draft, loop, put_last)
    return [state for state in states if state not in put_last]
