"""Look up steps in an order: all that happens when a program or a function is executed."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any, TypeVar

from reprocheck.scan.index import grouped, of_kind
from reprocheck.scan.names import with_name
from reprocheck.scan.steps import Call, Import, Loop, Step, Store
from reprocheck.scan.values import UNKNOWN, WALK, Made, Value

if TYPE_CHECKING:
    from reprocheck.scan.project import Module

Kind = TypeVar("Kind", bound=Step)
_LONG, _FAR, _NEAR = 1_000, 5_000, 500
"""Steps from which a program is long; and how many values are followed from one in a program that
is not, and in one that is.
"""


@dataclass(eq=False)
class Order:
    """All steps of executing a program, a function or a class, in order.

    root       the module in which it begins
    whole      whether it is a whole program: an entry module. Else it is one function or class, or
               the body of a library's module, whose callers are unknown
    function   qualified name of that function or class; empty for a module
    steps      calls, stores, loops, imports
    values     the value of each expression at its last evaluation, by the id of its node
               (`value_of`)
    cut        whether the execution exceeded a limit, so that later steps are missing
    deep       whether that is because the code is nested too deeply
    """

    root: Module
    whole: bool
    function: str
    steps: Sequence[Step]
    values: Mapping[int, Value] = field(default_factory=dict)
    cut: bool = False
    deep: bool = False

    def calls(self, *names: str) -> Iterator[Call]:
        """Yield the calls with one of these names, in order; all without names.

        `torch.nn.*` stands for all that begin with `torch.nn.`.
        """
        yield from self._steps_at(self._named(self._calls, names))

    def stores(self, *names: str) -> Iterator[Store]:
        """Yield the assignments to library attributes with one of these names, in order."""
        yield from self._steps_at(self._named(self._stores, names))

    def imports(self, *names: str) -> Iterator[Import]:
        """Yield the first imports of these modules or of modules below them, in order."""
        # without names the prefix is empty, and every name begins so
        prefixes = tuple(f"{name}." for name in names) or ("",)
        yield from (step for step in self._imports if f"{step.name}.".startswith(prefixes))

    def methods(self, *methods: str) -> Iterator[Call]:
        """Yield calls on any object whose name ends with one of these words, as `backward`."""
        found = [self._methods.get(method, ()) for method in methods]
        yield from self._steps_at(sorted(chain.from_iterable(found)))

    def loops(self) -> Iterator[Loop]:
        """Return the loops and comprehensions, in order."""
        return of_kind(self.steps, Loop)

    def environment(self, variable: str) -> Iterator[Store]:
        """Yield the assignments to an environment variable, however they are written."""
        yield from self.stores(f"os.environ[{variable}]")

    def position(self, step: Step) -> int:
        """Return the index of a step in the order."""
        return self._positions[id(step)]

    def is_before(self, one: Step, other: Step) -> bool:
        """Return whether one step comes before another."""
        return self._positions[id(one)] < self._positions[id(other)]

    def before(self, step: Step, *names: str) -> Iterator[Call]:
        """Return the calls with one of these names that come before a step."""
        return takewhile(lambda call: self.is_before(call, step), self.calls(*names))

    def after(self, step: Step, *names: str) -> Iterator[Call]:
        """Return the calls with one of these names that come after a step."""
        return (call for call in self.calls(*names) if self.is_before(step, call))

    def value_of(self, node: ast.AST) -> Value:
        """Return the value of an expression at its last evaluation; UNKNOWN without one."""
        return self.values.get(id(node), UNKNOWN)

    def on(self, value: Value, *methods: str) -> Iterator[Call]:
        """Yield the calls of methods of exactly this value, in order.

        `order.on(generator, "manual_seed", "seed")`
        """
        found = [self._by_receiver.get(id(option), ()) for option in value.options()]
        calls = self._steps_at(sorted(set(chain.from_iterable(found))))
        if methods:
            calls = (call for call in calls if call.method in methods)
        yield from calls

    def uses(self, value: Value) -> Iterator[Step]:
        """Yield the steps that use this value itself.

        It is their receiver, argument, stored value or iterable.
        """
        yield from self._steps_at(self._by_input.get(id(value), ()))

    def flow(self, value: Value, ends: Container[str] = ()) -> Iterator[Step]:
        """Yield, in order, the steps that use this value or something made of it.

        `ends` are words of calls whose results are not followed, as `len`.
        """
        seen = {id(value)}
        waiting = [value]
        indices: set[int] = set()
        most = _FAR
        if len(self.steps) > _LONG:
            most = _NEAR
        while waiting and len(seen) < most and not WALK.is_over:
            one = waiting.pop()
            taken = self._by_input.get(id(one), ())
            WALK.links += len(taken)
            indices.update(taken)
            results = chain.from_iterable(step.outputs for step in self._steps_at(taken))
            for made in chain(results, self._made_of.get(id(one), ())):
                if id(made) not in seen and not (
                    isinstance(made, Made) and made.call.method in ends
                ):
                    seen.add(id(made))
                    waiting.append(made)
        yield from self._steps_at(sorted(indices))

    def at(self, module: Module, node: ast.AST) -> list[Step]:
        """Return the steps at a node of a module: one for each time that the node was executed."""
        steps = self._steps_at(self._by_node.get(id(node), ()))
        return [step for step in steps if step.module is module]

    @cached_property
    def _by_node(self) -> dict[int, list[int]]:
        return grouped((id(step.node), at) for at, step in enumerate(self.steps))

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(step): index for index, step in enumerate(self.steps)}

    @cached_property
    def _calls(self) -> dict[str, list[int]]:
        return self._index(Call)

    @cached_property
    def _stores(self) -> dict[str, list[int]]:
        return self._index(Store)

    @cached_property
    def _methods(self) -> dict[str, list[int]]:
        methods: defaultdict[str, list[int]] = defaultdict(list)
        for name, indices in self._calls.items():
            methods[name.rpartition(".")[2]] += indices
        return methods

    @cached_property
    def _imports(self) -> list[Import]:
        return list(of_kind(self.steps, Import))

    @cached_property
    def _by_receiver(self) -> dict[int, list[int]]:
        calls = [(at, call.receiver) for at, call in self._enumerated(Call) if call.receiver]
        return grouped((id(option), at) for at, receiver in calls for option in receiver.options())

    @cached_property
    def _by_input(self) -> dict[int, list[int]]:
        index: defaultdict[int, list[int]] = defaultdict(list)
        for position, step in enumerate(self.steps):
            for value in step.inputs:
                for key in {id(value), *map(id, value.options())}:
                    index[key].append(position)
        return index

    @cached_property
    def _made_of(self) -> dict[int, list[Value]]:
        """Return, by the id of a value, the values that are made of it directly without a call."""
        index: defaultdict[int, list[Value]] = defaultdict(list)
        seen: set[int] = set()
        inputs = chain.from_iterable(step.inputs for step in self.steps)
        waiting = [*self.values.values(), *inputs]
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            waiting += value.sources
            for source in value.sources:
                index[id(source)].append(value)
        return index

    def _index(self, kind: type[Call] | type[Store]) -> dict[str, list[int]]:
        return grouped((step.name, at) for at, step in self._enumerated(kind))

    def _enumerated(self, kind: type[Kind]) -> Iterator[tuple[int, Kind]]:
        """Return the steps of a type, each with its index in the order."""
        return ((at, step) for at, step in enumerate(self.steps) if isinstance(step, kind))

    def _steps_at(self, positions: Iterable[int]) -> Iterator[Any]:
        """Return the steps at these indices."""
        return map(self.steps.__getitem__, positions)

    def _named(self, index: dict[str, list[int]], names: tuple[str, ...]) -> list[int]:
        found: Iterable[list[int]] = index.values()
        if names:
            found = chain.from_iterable(with_name(index, name) for name in names)
        return sorted(set(chain.from_iterable(found)))
