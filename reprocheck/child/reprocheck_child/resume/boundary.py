"""Records the state of a training at a boundary: between two iterations, where a run is resumed.

Recorded is what the training holds, and which states of its random generators were put back before.

Loaded only in a check of a resume: `boundaries` of the recorder.
"""

from __future__ import annotations

import sys
from base64 import b64encode

from ..deep_levels import scope
from ..recorder import import_hook
from ..recorder.hooking import guarded, replace
from ..recorder.lines import of_line
from . import script_objects
from .archives import Archives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable

DEEP = 2
"""Iterations from a boundary on that are recorded deeply, where an adapter can rest.

Weights, states and generators show in the first forward pass and its update, and that update in the
second; deep facts of all iterations would cost half as much as short iterations themselves.
"""
MOST_COUNTS = 500
_RESTORES = 200
"""States put back that are recorded: a script that does so for each sample says no more by it."""


class Boundary:
    """Write the state of a training before the first forward pass of some iterations.

    One for all frameworks of a process. Nothing here raises.
    """

    def __init__(self, deep: Any) -> None:
        self.deep = deep
        self.archives = Archives(deep, self._own_generators)
        self.held: list[Callable[[], None]] = []
        """Write weights, states of optimizers and schedules; adapters add theirs."""
        self.held_next: list[Callable[[], None]] = []
        """Write, one iteration later, what is to be compared once more; adapters add theirs."""
        self.begins: list[Callable[[], None]] = []
        """Called once, before the first step of all."""
        self.on_rest: list[Callable[[], None]] = []
        """Called when an adapter that rests between two boundaries begins to."""
        self.of_loaders: list[Callable[[], list[Any]]] = []
        """Return the generators that loaders have of their own; adapters add theirs."""
        self.things: list[tuple[str, Any]] = []
        """What the variables of the script reach, while what it holds is written."""
        self.generators: dict[str, Any] = {}
        """Those that the script made for itself, as they were found last."""
        self._can_rest = False
        self._until = 0  # the last iteration that is recorded deeply
        self._next = 0  # the iteration behind a boundary
        self.values: Any = None
        """Keeps what is held as values, or puts that back, where that is asked for."""
        if deep.recorder.keep or deep.recorder.put_back:
            from . import restored_values

            self.values = restored_values.of(deep.recorder)
            own = restored_values.Slots(
                restored_values.GENERATORS, lambda: script_objects.slots(self.generators)
            )
            self.values.holders.append(own)
            self.values.on_pass.append(self._look_for_generators)
        self.begun = False  # whether there was a first step
        self.restores = 0
        self.looked = 0  # the iteration before which a checkpoint was looked for last
        import_hook.when_imported("random", lambda module: self.watch("python", "setstate", module))
        import_hook.when_imported("numpy.random", self._watch_numpy)

    def may_rest(self) -> None:
        """Let the recorder leave out deep facts between two boundaries.

        An adapter that can pause its deep hooks calls this.
        """
        self._can_rest = True
        self._rest()

    def reached(self, framework: str) -> bool:
        """Note that a forward pass begins; return whether the training's state is to be written.

        Frameworks call this, at a backward pass if no forward pass was seen.

        framework  name of the framework that calls
        """
        try:
            return bool(self._reached(framework))
        finally:
            self.deep.recorder.before_going_on()

    @guarded("looking at what a training goes on with", otherwise=False)
    def _reached(self, framework: str) -> bool:
        deep, recorder = self.deep, self.deep.recorder
        if not self.begun:
            self.begun = True
            _call_all(self.begins)
            self._write_counts()
        iteration = len(deep.grouping.ends) + 1
        if iteration != self.looked and recorder.before_iteration is not None:
            self.looked = iteration
            recorder.before_iteration()  # whether a checkpoint was written since the last one
        self._write_next(iteration)
        wanted = recorder.boundaries
        if iteration not in wanted:
            if self._can_rest and not self.deep.rests and iteration > self._until:
                self._rest()
            return False
        wanted.discard(iteration)
        deep.rests = False
        self._until = iteration + DEEP - 1
        self._next = iteration + 1
        self._find_own()
        if self.values is not None:
            self.values.at_boundary(iteration)
        deep.seen("boundary", framework, call=False, g=deep.rng())
        for name, state in deep.states().items():
            deep.seen("state", name, call=False, raw=_text(state))
        _call_all(self.held)
        self._write_counts()
        deep.seen("names", "boundary", call=False, fr=self.archives.frames())
        self.things = []
        return True

    def _write_next(self, iteration: int) -> None:
        if iteration != self._next:
            return
        self._next = 0
        _call_all(self.held_next)
        self._write_counts()

    @guarded("looking at what the script counts")
    def _write_counts(self) -> None:
        """Write the whole numbers in the script's variables, such as a step or an epoch."""
        counts: dict[str, int] = {}
        for name, value in script_objects.variables(self.deep):
            if scope.is_count(value):
                counts.setdefault(name, value)
        for name, thing in script_objects.reachable(self.deep):
            if len(counts) < MOST_COUNTS and not scope.is_library(thing):
                inner = scope.parts(thing) if type(thing) is dict else scope.attributes(thing)
                counts.update(
                    (name + part, count) for part, count in inner if scope.is_count(count)
                )
        out = [[name, {"v": value}] for name, value in list(counts.items())[:MOST_COUNTS]]
        self.deep.seen("counts", "", call=False, out=out)

    @guarded("finding what the script made for itself")
    def _find_own(self) -> None:
        self.things = list(script_objects.reachable(self.deep))
        self._look_for_generators()
        readers = {
            name: script_objects.reader(generator) for name, generator in self.generators.items()
        }
        self.deep.generators.update(readers)

    def _own_generators(self) -> dict[str, Any]:
        self._look_for_generators()
        return self.generators

    @guarded("finding the generators of the script's own")
    def _look_for_generators(self) -> None:
        besides = [generator for find in self.of_loaders for generator in find()]
        things = self.things or script_objects.reachable(self.deep)
        self.generators = script_objects.generators(things, besides)

    def _rest(self) -> None:
        self.deep.seen("rest", "", call=False)
        self.deep.rests = True
        _call_all(self.on_rest)

    def watch(self, generator: str, name: str, *modules: Any) -> None:
        """Wrap a function that sets the state of a random generator, to record each call.

        generator  name of the generator in the trace, such as `numpy`
        name       name of the function, such as `set_state`
        modules    the module that holds the function, and further modules that hold it by the same
                   name
        """

        def make(real: Callable[..., Any]) -> Callable[..., Any]:
            def restore(*args: Any, **named: Any) -> Any:
                returned = real(*args, **named)
                self._restored(generator, *args[:1])
                return returned

            return restore

        replace(modules[0], name, make, also=modules[1:], put=self.deep.hooks.put)

    def _watch_numpy(self, module: Any) -> None:
        self.watch("numpy", "set_state", module, getattr(module, "mtrand", None))

    @guarded("a state of a generator was put back")
    def _restored(self, generator: str, value: Any = None) -> None:
        deep = self.deep
        if not deep.recorder.boundaries or self.restores >= _RESTORES:
            return
        self.restores += 1
        state = deep.states().get(generator, b"")
        keys = {"in": self.archives.key_leaves(value), **of_line(deep.source(2))}
        # behind the guard and the function in place of the module's own
        library = deep.library(sys._getframe(3), "torch")
        if library:
            keys["by"] = library
        deep.seen("restore", generator, call=False, raw=_text(state), **keys)


def _text(state: bytes) -> str:
    return b64encode(state).decode()


def _call_all(callbacks: Iterable[Callable[[], None]]) -> None:
    for callback in callbacks:
        callback()
