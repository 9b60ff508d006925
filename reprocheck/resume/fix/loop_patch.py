"""Make the lines of a patch that put a state back where the loop of a training begins.

Or where it goes on in the middle of a pass over its data.

What was loaded is kept under a name of its own until the first batch is trained with that is due.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from reprocheck.resume.fix.draft import Draft
from reprocheck.resume.fix.passes import Pass
from reprocheck.resume.fix.script import Scope
from reprocheck.resume.fix.states import State, value_of
from reprocheck.scan.index import within
from reprocheck.scan.syntax import word


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of new variables in the script.

    The loaded state until the loop has gone on, and the number of batches of a pass, with its
    dictionary key.
    """

    pending: str
    count: str

    @property
    def is_pending(self) -> str:
        """Return whether the loop has still to go on."""
        return f"{self.pending} is not None"


def before_the_loop(draft: Draft, place: Pass, states: Sequence[State]) -> None:
    """Put states back just before the loop begins again, if checkpoints are saved outside of it."""
    names = _named(draft)
    _declare(draft, place, names, [])
    _save(draft, states)
    draft.above(place.loop, _put_back_last(names, states))


def pass_over(draft: Draft, place: Pass) -> None:
    """Skip the batches that were used before the checkpoint.

    Applies to a loop that counts on from the loaded number and takes each batch by `next`.
    """
    loop = place.loop
    counts = loop.iter if isinstance(loop, ast.For) else None
    taken = (one for one in within(loop, ast.Call) if word(one) == "next" and one.args)
    iterator = next((ast.unparse(one.args[0]) for one in taken), "")
    if not isinstance(counts, ast.Call) or word(counts) != "range" or len(counts.args) < 2:
        return
    if iterator:
        rows = [f"for _ in range({ast.unparse(counts.args[0])}):", f"    next({iterator})"]
        draft.above(loop, rows)


def within_the_loop(
    draft: Draft,
    place: Pass,
    states: Sequence[State],
    order: Sequence[State],
    *,
    position: bool,
) -> None:
    """Let the loop go on in the middle of a pass over the data.

    states    the states to put back before the first batch after the checkpoint
    order     the states to put back where the interrupted pass begins
    position  whether batches are counted, and the used ones skipped
    """
    names, loop = _named(draft), place.loop
    noted = [state.of_pass for state in order]
    begin = [
        *_put_back(names, [(state, state.of_pass) for state in order]),
        *(f"{state.of_pass} = {state.read}" for state in order),
    ]
    passing: list[str] = []
    if position:
        noted.append(names.count)
        begin.append(f"{names.count} = 0")
        passing = [
            f"{names.count} += 1",
            f'if {names.is_pending} and {names.count} <= {names.pending}["{names.count}"]:',
            "    continue",
        ]
    _declare(draft, place, names, noted)
    _save(draft, states)
    for name in noted:
        draft.save(name, name)
    draft.above(loop, begin)
    draft.above(loop.body[0], passing)
    draft.above(place.first_due, _put_back_last(names, states))
    draft.below(loop, [f"{names.pending} = None"])


def _named(draft: Draft) -> _Names:
    source = draft.source
    return _Names(source.fresh_name("going_on"), source.fresh_name("batches"))


def _save(draft: Draft, states: Sequence[State]) -> None:
    for state in states:
        draft.save(state.key, state.read)


def _put_back(names: _Names, states: Sequence[tuple[State, str]]) -> list[str]:
    """Return the lines that set each state to the loaded value under its dictionary key."""
    if not states:
        return []
    lines = [state.set_to(value_of(names.pending, key)) for state, key in states]
    return [f"if {names.is_pending}:", *(f"    {line}" for line in lines)]


def _put_back_last(names: _Names, states: Sequence[State]) -> list[str]:
    """Return the lines that set each state, and after that no other."""
    if not states:
        return []
    lines = _put_back(names, [(state, state.key) for state in states])
    return [*lines, f"    {names.pending} = None"]


def _declare(draft: Draft, place: Pass, names: _Names, noted: Sequence[str]) -> None:
    """Add the variable of the loaded state, None at first, and `global` where it is shared."""
    source, script = draft.source, draft.source.loading.script
    draft.load(f"{names.pending} = {source.loaded}")
    loads, trains = script.scope(source.behind), script.scope(place.loop)
    scopes: set[Scope] = {loads, trains}
    if source.is_single and noted:
        scopes.add(script.scope(source.saved))
    common: Scope = loads
    if len(scopes) > 1:
        common = script.tree
        shared = {loads: [names.pending], trains: [names.pending, *noted]}
        for scope, own in shared.items():
            if scope is not common:
                below_text = int(ast.get_docstring(scope) is not None)
                draft.above(scope.body[below_text], [f"global {', '.join(own)}"])
    around = {place.loop, source.behind, *script.around(place.loop), *script.around(source.behind)}
    first = next(one for one in common.body if one in around)
    # a definition stands two lines below
    blank = 2 * isinstance(first, ast.FunctionDef | ast.ClassDef)
    draft.above(first, [f"{names.pending} = None", *[""] * blank])
