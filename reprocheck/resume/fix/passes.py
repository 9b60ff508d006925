"""The loop that trains, and whether checkpoints are saved in the middle of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from reprocheck.resume.fix.script import Script, calls
from reprocheck.resume.fix.source import Source
from reprocheck.scan.index import holds, within
from reprocheck.scan.syntax import word

_TRAINS = "backward"
_STATE_SETTERS = ("load_state_dict", "set_state", "setstate")
_SETTERS = ("set_rng_state", "set_rng_state_all", "set_state", "setstate")


@dataclass(frozen=True, slots=True)
class Pass:
    """The loop over the batches of the training.

    saves_within  whether each checkpoint is saved in the middle of the loop; else each is saved
                  outside of the loop
    """

    loop: ast.For | ast.While
    saves_within: bool

    @property
    def first_due(self) -> ast.stmt:
        """Return the statement in front of which the first batch that is due is trained with.

        Behind the conditions at the beginning of the loop that pass over batches, or put a state
        back.
        """
        body = self.loop.body
        guards = list(takewhile(lambda one: isinstance(one, ast.If), body[:-1]))
        while guards and not (holds(guards[-1], ast.Continue) or calls(guards[-1], _SETTERS)):
            guards.pop()
        return body[len(guards)]


def pass_of(source: Source) -> Pass | None:
    """Return the only loop that trains.

    None if there is no single one, or if checkpoints are saved both inside and outside of it.
    """
    making = {one.name for one in source.script.index.functions if calls(one, {_TRAINS})}
    calling = _calling(source.script, {_TRAINS}) or _calling(source.script, making)
    outer = {around for one in calling for around in source.script.around(one)}
    loops = [one for one in calling if one not in outer]
    if len(loops) != 1:
        return None
    (loop,) = loops
    inside = {loop in source.script.around(place) for place in _places(source, loop)}
    is_plain = not loop.orelse and loop.body[0].lineno > loop.lineno
    if len(inside) != 1 or not is_plain:
        return None
    return Pass(loop, inside.pop())


def has_own_position(source: Source, place: Pass) -> bool:
    """Return whether the loop already resumes in place.

    It skips batches by a loaded number, or walks through an object that was given a loaded state.
    """
    script, loop = source.loading.script, place.loop
    of_file = {source.loaded}
    for node in script.index.of(ast.Assign):
        if source.loaded in map(ast.unparse, within(node.value, ast.Name)):
            of_file.update(map(ast.unparse, node.targets))
    for guard in loop.body:
        tested = map(ast.unparse, within(getattr(guard, "test", None), ast.expr))
        if holds(guard, ast.Continue) and not of_file.isdisjoint(tested):
            return True
    setters = {ast.unparse(one.func) for one in script.index.calls if word(one) in _STATE_SETTERS}
    iterated = map(ast.unparse, within(getattr(loop, "iter", None), ast.expr))
    return any(f"{name}.{setter}" in setters for name in iterated for setter in _STATE_SETTERS)


def loop_around(source: Source) -> Pass | None:
    """Return the outermost loop of the function that trains.

    In the file that loads the checkpoint, so that the loaded state can be put back in front of it.
    """
    for spot in source.training:
        if spot.file != source.loading.file:
            continue
        index = spot.script.index
        loops: list[ast.For | ast.While] = [*index.of(ast.For), *index.of(ast.While)]
        around = [one for one in loops if one.lineno <= spot.line <= (one.end_lineno or 0)]
        inside = [one for one in around if source.load.statement not in within(one, ast.Assign)]
        if inside:
            scope = spot.script.scope(inside[-1])
            same = [one for one in inside if spot.script.scope(one) is scope]
            return Pass(min(same, key=lambda one: one.lineno), saves_within=False)
    return None


def _calling(script: Script, names: set[str]) -> list[ast.For]:
    """Return the loops that call a function of these names, except those over `range`."""
    loops = script.index.of(ast.For)
    return [one for one in loops if word(one.iter) != "range" and calls(one, names)]


def _places(source: Source, loop: ast.For) -> Sequence[ast.AST]:
    """Return the nodes that save checkpoints.

    The dict itself, or the calls of the function that makes the dict.
    """
    script = source.script
    scope = source.handed or script.scope(source.saved)
    if source.handed is None and scope is script.scope(loop):
        return [source.saved]
    return script.calls_of(scope)
