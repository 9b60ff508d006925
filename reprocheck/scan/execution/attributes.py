"""Read and assign attributes and items of modules, objects, classes and library objects."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, ClassVar

from reprocheck.scan.aliases import canonical
from reprocheck.scan.execution.machine import Machine
from reprocheck.scan.values import (
    Class,
    Constant,
    Either,
    External,
    Function,
    Instance,
    Items,
    Made,
    Package,
    Part,
    Super,
    Value,
    either,
    is_row,
)


class Attributes(Machine):
    """Reads attributes, and assigns to names, attributes and items."""

    def attribute(self, node: ast.AST, whole: Value, name: str) -> Value:
        """Return the value of the attribute `name` of the value `whole`."""
        known = self._HOLDERS.get(type(whole))
        if known is None:
            return Part(whole, name)
        return known(self, node, whole, name)

    def attribute_of_instance(self, node: ast.AST, whole: Instance, name: str) -> Value:
        if name in whole.attributes:
            return whole.attributes[name]
        found = whole.of.find(name)
        if isinstance(found, Function):
            bound = found.bound_to(whole)
            if found.kind == "property":
                whole.ran.add(name)
                return self.inline(node, bound)
            return bound
        if found is not None:
            return found
        if name == "__class__":
            return whole.of
        return Part(whole, name)

    def attribute_of_class(self, node: ast.AST, whole: Class, name: str) -> Value:
        found = whole.find(name)
        if found is None:
            return _inherited(whole, name, whole)
        if isinstance(found, Function) and found.kind == "class":
            return found.bound_to(whole)
        return found

    def attribute_of_package(self, node: ast.AST, whole: Package, name: str) -> Value:
        variables = whole.module.body.frame.variables
        if name in variables:
            return variables[name]
        inner = whole.module.project.module(f"{whole.module.name}.{name}", whole.module)
        if inner is None:
            return Part(whole, name)
        return Package(inner)

    def attribute_of_super(self, node: ast.AST, whole: Super, name: str) -> Value:
        start = whole.of
        if isinstance(whole.instance, Instance):
            start = whole.instance.of
        found = start.find(name, after=whole.of)
        if isinstance(found, Function):
            return found.bound_to(whole.instance)
        return _inherited(whole.of, name, whole.instance)

    _HOLDERS: ClassVar[dict[type[Value], Callable[..., Value]]] = {
        External: lambda self, node, whole, name: External(canonical(f"{whole.dotted}.{name}")),
        Instance: attribute_of_instance,
        Made: lambda self, node, whole, name: whole.facts.get(name) or Part(whole, name),
        Package: attribute_of_package,
        Class: attribute_of_class,
        Super: attribute_of_super,
        Either: lambda self, node, whole, name: either(
            [self.attribute(node, option, name) for option in whole.choices]
        ),
    }

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target expression; ignore any other expression."""
        assigned = self._TARGETS.get(type(target))
        if assigned is not None:
            assigned(self, target, value)

    def assign_name(self, target: ast.Name, value: Value) -> None:
        self.bind(target.id, value)
        self.values[id(target)] = value

    def assign_several(self, target: ast.Tuple | ast.List, value: Value) -> None:
        targets = target.elts
        rows = [option.items for option in value.options() if is_row(option)]
        is_known = len(rows) == len(value.options()) and set(map(len, rows)) == {len(targets)}
        if any(isinstance(target, ast.Starred) for target in targets):
            is_known = False
        unpacked: list[Value] = [Part(value, None) for _ in targets]
        if is_known:
            unpacked = [either(list(column)) for column in zip(*rows, strict=True)]
        for part, item in zip(targets, unpacked, strict=True):
            self.assign(part, item)

    def assign_attribute(self, target: ast.Attribute, value: Value) -> None:
        for option in self.evaluate(target.value).options():
            self.set_attribute(target, option, target.attr, value)

    def assign_item(self, target: ast.Subscript, value: Value) -> None:
        whole = self.evaluate(target.value)
        key = self.evaluate(target.slice)
        for option in whole.options():
            self._set_item(target, option, key, value)

    _TARGETS: ClassVar[dict[type[ast.expr], Callable[..., None]]] = {
        ast.Name: assign_name,
        **dict.fromkeys((ast.Tuple, ast.List), assign_several),
        ast.Starred: lambda self, target, value: self.assign(target.value, value),
        ast.Attribute: assign_attribute,
        ast.Subscript: assign_item,
    }

    def bind(self, name: str, value: Value) -> None:
        """Assign a value to a name.

        Under a condition, a name of an outer scope keeps its old value as an alternative.
        """
        holder = self.frame.holder(name)
        if holder is not self.frame and self.conditions and name in holder.variables:
            value = either([value, holder.variables[name]])
        holder.variables[name] = value

    def set_attribute(self, node: ast.AST, whole: Value, attribute: str, value: Value) -> None:
        """Assign a value to an attribute; for a library object, record this as a step."""
        set_in = self._SETTERS.get(type(whole), Attributes._set_in_library)
        set_in(self, node, whole, attribute, value)

    def _set_in_library(self, node: ast.AST, whole: Value, attribute: str, value: Value) -> None:
        if isinstance(whole, External):
            dotted = canonical(f"{whole.dotted}.{attribute}")
        else:
            dotted = Part(whole, attribute).name or attribute
        self.store(node, dotted, value, whole)

    def set_in_made(self, node: ast.AST, whole: Made, attribute: str, value: Value) -> None:
        whole.facts[attribute] = value
        self._set_in_library(node, whole, attribute, value)

    def set_in_class(self, node: ast.AST, whole: Class, attribute: str, value: Value) -> None:
        whole.attributes[attribute] = value

    def set_in_package(self, node: ast.AST, whole: Package, attribute: str, value: Value) -> None:
        whole.module.body.frame.variables[attribute] = value

    def set_in_object(self, node: ast.AST, whole: Instance, attribute: str, value: Value) -> None:
        """Assign to an attribute of a user's object.

        Under a condition, the old value is kept as an alternative.
        """
        kept = value
        if attribute in whole.attributes and self.conditions:
            kept = either([value, whole.attributes[attribute]])
        whole.attributes[attribute] = kept
        if whole.of.external_bases():
            self.store(node, f"{whole.library_name}.{attribute}", value, whole)

    _SETTERS: ClassVar[dict[type[Value], Callable[[Any, ast.AST, Any, str, Value], None]]] = {
        Instance: set_in_object,
        Class: set_in_class,
        Package: set_in_package,
        Made: set_in_made,
    }

    def _set_item(self, node: ast.AST, whole: Value, key: Value, value: Value) -> None:
        """Assign a value to an item: `whole[key] = value`."""
        if isinstance(whole, Items):
            whole.items.append(value)
            if whole.is_dict:
                whole.keys.append(key)
            else:
                whole.whole = False
            return
        shown: object = ""
        if isinstance(key, Constant):
            shown = key.value
        self.store(node, f"{whole.name or '?'}[{shown}]", value, whole)


def _inherited(of: Class, name: str, whole: Value) -> Value:
    """Return the attribute that a class inherits from a library class.

    Without such a base, an unknown part of `whole`.
    """
    for base in of.external_bases():
        return External(f"{base}.{name}")
    return Part(whole, name)
