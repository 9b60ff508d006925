"""Execute the user's functions and objects that a library gets and calls.

At once, or when the library's object is used.

A loader reads its data set when the program loops over the loader, a thread runs its target when it
is started; `model.apply(f)` calls `f` at once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import filterfalse
from operator import attrgetter
from typing import Any, ClassVar

from reprocheck.scan.execution.attributes import Attributes
from reprocheck.scan.execution.machine import Arguments
from reprocheck.scan.steps import Call
from reprocheck.scan.values import (
    Class,
    Either,
    Function,
    Instance,
    Items,
    Made,
    Parameter,
    Place,
    Value,
    is_row,
)
from reprocheck.scan.vocabulary import words

_LATER = words("execution", "later")
_DRIVES = words("execution", "drives")
_QUIET = words("execution", "quiet")
_INSIDE = words("execution", "inside")
_KEEPS = words("execution", "keeps")
MOST = 40
DEEPEST = 3
"""How many containers inside of one another are looked into."""


class Pending(Attributes):
    """Calls the user's functions and objects that libraries get."""

    def give(self, call: Call, made: Made) -> None:
        """Execute or put off the user's functions and objects that a library call gets."""
        by_init = [value for name, value in call.keywords.items() if "init" in name]
        others = filterfalse(by_init.__contains__, call.keywords.values())
        found = _held((*by_init, *call.arguments, *others))
        held = list(filterfalse(self.decorated.__contains__, found))[:MOST]
        match call.receiver:
            case Made() as used:
                self.run(used)
            case Instance() as driven if call.method in _DRIVES and call.name not in _QUIET:
                self._use(call, driven)
        if not held or call.method in _KEEPS:
            return
        if call.method[:1].isupper() or call.name in _LATER:
            made.pending = held
            self.waiting.append(made)
            return
        for value in held:
            self._use(call, value)

    def run(self, made: Made) -> None:
        """Execute, once, the functions that a library object got, because it is now used."""
        waiting, made.pending = made.pending, []
        for value in waiting:
            self._use(made.call, value)
        source = made.call.first
        if isinstance(source, Made) and source.pending:
            self.run(source)

    def run_rest(self) -> None:
        """Execute functions of unused library objects, and uncalled inner functions, at the end."""
        for made in filter(attrgetter("pending"), list(self.waiting)):
            self.run(made)
        for _ in range(3):
            rest = [function for function in self.closures if function.place not in self.reached]
            self.closures = []
            for function in rest:
                with self.within(function.around):
                    self.inline(function.node, function)

    def run_methods(self, node: ast.AST, value: Instance, *, skip: Collection[Place] = ()) -> None:
        """Execute the methods of an object that nothing has called so far."""

        def is_wanted(name: str, method: Function) -> bool:
            return method.place not in skip and method.place not in self.reached

        self._run_methods(node, value, is_wanted)

    def _use(self, call: Call, value: Value) -> None:
        """Execute a function, or the methods of an object, as the library call `call` does."""
        use = self._USES.get(type(value))
        if use is None:
            return
        with self.left_to(call):
            use(self, call, value)

    def use_class(self, call: Call, of: Class) -> None:
        self._use_object(call, self.instantiated(call.node, of, Arguments(open=True)))

    def _use_object(self, call: Call, value: Instance) -> None:
        self._run_methods(call.node, value, self._is_for_others)

    def _is_for_others(self, name: str, method: Function) -> bool:
        """Return whether a library may call a method of an object that it gets.

        It may call those special methods that give items or results, as `__getitem__`, and methods
        that the program does not call itself.
        """
        if name in _INSIDE:
            return True
        return not name.startswith("__") and method.place not in self.reached

    def _run_methods(
        self, node: ast.AST, value: Instance, is_wanted: Callable[[str, Function], bool]
    ) -> None:
        """Execute the methods of an object that did not run yet.

        Only if `is_wanted` says so when their turn comes.
        """
        methods: dict[str, Function] = {}  # of the class itself, or of a base of the user's
        for base in value.of.own_line():
            for name, attribute in base.attributes.items():
                if isinstance(attribute, Function):
                    methods.setdefault(name, attribute)
        for name, method in methods.items():
            if name not in value.ran and is_wanted(name, method):
                value.ran.add(name)
                self.inline(node, method.bound_to(value))

    def call_with(self, call: Call, function: Function) -> None:
        """Execute a function as a library does.

        With the arguments of `Thread(target=f, args=(...))`, else with unknown ones.
        """
        args = call.argument(None, "args")
        if args is None or not is_row(args):
            self.inline(call.node, function)
            return
        values = args.items
        expected = len(function.node.args.posonlyargs) + len(function.node.args.args)
        if function.owner is not None:
            expected -= 1
        if len(values) < expected:
            values = [Parameter("rank"), *values]
        self.inline(call.node, function, Arguments(tuple(values)))

    _USES: ClassVar[dict[type[Value], Callable[[Any, Call, Any], None]]] = {
        Function: call_with,
        Instance: _use_object,
        Class: use_class,
        Made: lambda self, call, made: self.run(made),
    }


def _held(values: tuple[Value, ...]) -> Iterator[Value]:
    """Yield the user's functions and objects among the arguments, also in lists.

    And library objects that still hold uncalled functions.
    """
    waiting = [(value, 0) for value in values]
    while waiting:
        value, depth = waiting.pop(0)
        is_called = value.pending if isinstance(value, Made) else not value.is_opaque
        if is_called:
            yield value
        elif depth < DEEPEST:
            inside: Sequence[Value] = ()
            if isinstance(value, Items):
                inside = value.items[:MOST]
            elif isinstance(value, Either):
                inside = value.choices
            waiting.extend((part, depth + 1) for part in inside)
