"""Find the value of a loop variable: the elements of containers and other iterables."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, ClassVar

from reprocheck.scan.execution.machine import Arguments
from reprocheck.scan.execution.pending import Pending
from reprocheck.scan.values import Instance, Items, Made, Part, Value, either, is_row
from reprocheck.scan.vocabulary import names

_SAME = names("execution", "same")

EACH = "[]"
"""The fact of a library's container under which the one value stands that all its items share."""


class Elements(Pending):
    """Returns the elements of iterables."""

    def element(self, node: ast.AST, value: Value) -> Value:
        """Return an element of an iterable, one value for all iterations.

        Functions that a library calls to make the element, as `__getitem__` of a loader's data set,
        are executed now.
        """
        elements: list[Value] = []
        for option in value.options():
            find = self._ELEMENTS.get(type(option))
            elements.append(find(self, node, option) if find else Part(option, None))
        return either(elements)

    def element_of_made(self, node: ast.AST, value: Made) -> Value:
        """Return an element of a library's result; `enumerate`, `zip`, `items()` and calls that
        only reorder give the elements of their arguments.
        """
        self.run(value)
        call = value.call
        if call.name == "builtins.zip" and not call.open:
            return Items("tuple", [self.element(node, one) for one in call.arguments])
        if call.method in ("items", "values"):
            key: Value = Part(value, None)
            match value.call.receiver:
                case Items(kind="dict", keys=keys, items=items):
                    key, held = either(keys), either(items)
                case Made(facts=facts) if EACH in facts:
                    held = facts[EACH]
                case _:
                    return key
            if value.call.method == "values":
                return held
            return Items("tuple", [key, held])
        if not call.arguments:
            return Part(value, None)
        if call.name == "builtins.enumerate":
            return Items("tuple", [Part(value, None), self.element(node, call.first)])
        if call.name in _SAME and isinstance(call.first, Items):
            return self.element(node, call.first)
        return Part(value, None)

    def element_of_instance(self, node: ast.AST, value: Instance) -> Value:
        """Return an element of a user's object, by its method `__iter__` or `__getitem__`."""
        given = self.method_called(node, value, "__iter__")
        if given is None:
            index = Arguments((Part(value, "index"),))
            return self.method_called(node, value, "__getitem__", index) or Part(value, None)
        if isinstance(given, Instance):
            return Part(value, None)
        return self.element(node, given)

    _ELEMENTS: ClassVar[dict[type[Value], Callable[[Any, ast.AST, Any], Value]]] = {
        Items: lambda self, node, value: either(value.elements),
        Instance: element_of_instance,
        Made: element_of_made,
    }

    def spelled_out(self, nodes: list[ast.expr]) -> tuple[list[Value], list[Value]]:
        """Return the values of expressions in a list, and separately those starred values whose
        items are not known.
        """
        items: list[Value] = []
        hidden: list[Value] = []
        for node in nodes:
            value = self.evaluate(node)
            if not isinstance(node, ast.Starred):
                items.append(value)
            elif is_row(value):
                items += value.items
            else:
                hidden.append(value)
        return items, hidden
