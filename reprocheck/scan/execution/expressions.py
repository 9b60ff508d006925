"""Evaluate expressions: their values, and the steps that the evaluation takes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import ClassVar

from reprocheck.scan.aliases import free_name
from reprocheck.scan.execution.calls import Calls
from reprocheck.scan.execution.conditions import compared, computed, truth
from reprocheck.scan.execution.elements import EACH
from reprocheck.scan.execution.frame import Frame
from reprocheck.scan.execution.machine import Arguments
from reprocheck.scan.index import of_kind
from reprocheck.scan.names import COMPREHENSIONS
from reprocheck.scan.steps import Condition
from reprocheck.scan.values import (
    UNKNOWN,
    Constant,
    Derived,
    External,
    Function,
    Items,
    Made,
    Package,
    Part,
    Value,
    are_constants,
    either,
)

MOST_ITEMS = 1_000
"""Items of a list that is put together of two: a list that grows with each line would take the
square of their number.
"""


class Expressions(Calls):
    """Evaluates expressions."""

    def evaluate(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        self.spend()
        value = self._EXPRESSIONS.get(type(node), Expressions.evaluate_of_parts)(self, node)
        self.values[id(node)] = value
        return value

    def evaluate_of_parts(self, node: ast.expr) -> Value:
        children = ast.iter_child_nodes(node)
        inner = list(of_kind(children, ast.expr))
        if not inner:
            return UNKNOWN
        return Derived(type(node).__name__, tuple(map(self.evaluate, inner)))

    def evaluate_name(self, node: ast.Name) -> Value:
        for at in self.frame.chain():
            if node.id in at.variables:
                value = at.variables[node.id]
                match value:
                    case Part(whole=Package(module=module), key=str() as key):
                        return module.body.frame.variables.get(key, value)
                return value
        found = free_name(node.id, self.frame.top.stars)
        if found is None:
            return UNKNOWN
        return External(found)

    def evaluate_binary(self, node: ast.BinOp) -> Value:
        chain: list[ast.BinOp] = []
        at: ast.expr = node
        while isinstance(at, ast.BinOp):
            chain.append(at)
            at = at.left
        value = self.evaluate(at)
        operands = [self.evaluate(step.right) for step in reversed(chain)]
        for step, operand in zip(reversed(chain), operands, strict=True):
            value = combined(type(step.op).__name__, value, operand)
        return value

    def evaluate_unary(self, node: ast.UnaryOp) -> Value:
        operand = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            known = truth(operand)
            if known is None:
                return Derived("Not", (operand,))
            return Constant(not known)
        match node.op, operand:
            case ast.USub(), Constant(value=int() | float() as number):
                return Constant(-number)
        return Derived(type(node.op).__name__, (operand,))

    def evaluate_boolean(self, node: ast.BoolOp) -> Value:
        """Evaluate `and` or `or`: later operands run under the condition of the earlier ones, or
        not at all if a constant decides.
        """
        stop = isinstance(node.op, ast.Or)
        values: list[Value] = []
        before = self.conditions
        *others, last = node.values
        for part in others:
            value = self.evaluate(part)
            known = truth(value)
            if known is stop:
                values.append(value)
                break
            if known is None:
                if stop:
                    # where the whole is this part, that is no option that is false: never None
                    options = [one for one in value.options() if truth(one) is not False]
                    value = either(
                        [Derived("Or", ()) if one is UNKNOWN else one for one in options]
                    )
                values.append(value)
                self.conditions = (*self.conditions, Condition(part, not stop))
        else:
            values.append(self.evaluate(last))
        self.conditions = before
        if len(values) == 1:
            return values[0]
        if stop:
            return either(values)
        return Derived("And", tuple(values))

    def evaluate_compare(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        others = list(map(self.evaluate, node.comparators))
        known = None
        if len(others) == 1:
            known = compared(left, type(node.ops[0]), others[0])
        if known is None:
            return Derived("Compare", (left, *others))
        return Constant(known)

    def evaluate_conditional(self, node: ast.IfExp) -> Value:
        known = truth(self.evaluate(node.test))
        if known is True:
            return self.evaluate(node.body)
        if known is False:
            return self.evaluate(node.orelse)
        with self.under(Condition(node.test, True)):
            one = self.evaluate(node.body)
        with self.under(Condition(node.test, False)):
            other = self.evaluate(node.orelse)
        return either([one, other])

    def evaluate_named(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value

    def evaluate_yield(self, node: ast.Yield) -> Value:
        self.frame.generator = True
        if node.value is not None:
            self.frame.yields.append(self.evaluate(node.value))
        return UNKNOWN

    def evaluate_yield_from(self, node: ast.YieldFrom) -> Value:
        self.frame.generator = True
        self.frame.yields.append(self.element(node, self.evaluate(node.value)))
        return UNKNOWN

    def evaluate_formatted(self, node: ast.JoinedStr) -> Value:
        parts = list(map(self.evaluate, node.values))
        if parts and are_constants(parts):
            return Constant("".join(str(part.value) for part in parts))
        return Derived("format", tuple(parts))

    def evaluate_display(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        items, hidden = self.spelled_out(node.elts)
        return Items(_CONTAINERS[type(node)], items, over=tuple(hidden), whole=not hidden)

    def evaluate_dict(self, node: ast.Dict) -> Value:
        made = Items("dict", [])
        over: list[Value] = []
        for key, value in zip(node.keys, node.values, strict=True):
            item = self.evaluate(value)
            if key is not None:
                made.keys.append(self.evaluate(key))
                made.items.append(item)
            elif isinstance(item, Items) and item.is_dict:
                made.keys += item.keys
                made.items += item.items
            else:
                over.append(item)
                made.whole = False
        made.over = tuple(over)
        return made

    def evaluate_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Value:
        conditions, loops = self.conditions, self.loops
        first, *_ = node.generators
        over = [self.evaluate(first.iter)]
        outer = self.frame
        inner = Frame(
            module=outer.module,
            node=node,
            around=outer,
            qualified=outer.qualified,
            of_class=outer.of_class,
            receiver=outer.receiver,
        )
        with self.within(inner):
            for generator in node.generators:
                if generator is not first:
                    over.append(self.evaluate(generator.iter))
                self.loop(node, over[-1])
                self.loops += 1
                self.assign(generator.target, self.element(node, over[-1]))
                for test in generator.ifs:
                    self.evaluate(test)
                    self.conditions = (*self.conditions, Condition(test, True))
            made = Items(_CONTAINERS[type(node)], [], over=tuple(over), whole=False)
            if isinstance(node, ast.DictComp):
                made.keys.append(self.evaluate(node.key))
                made.items.append(self.evaluate(node.value))
            else:
                made.items.append(self.evaluate(node.elt))
        self.conditions, self.loops = conditions, loops
        return made

    def evaluate_subscript(self, node: ast.Subscript) -> Value:
        whole = self.evaluate(node.value)
        key = self.evaluate(node.slice)
        is_slice = isinstance(node.slice, ast.Slice)
        items: list[Value] = []
        for option in whole.options():
            if is_slice and isinstance(option, Items):
                items.append(Items("list", list(option.items), over=(option,), whole=False))
            elif is_slice and isinstance(option, Made):
                items.append(Part(option, None))
            else:
                items.append(self._item(node, option, key))
        return either(items)

    def _item(self, node: ast.AST, whole: Value, key: Value) -> Value:
        """Return the item `whole[key]`."""
        if whole.name == "os.environ":
            return self.called(node, External("os.environ.get"), Arguments((key,)))
        if isinstance(whole, Items):
            return whole.get(key) or Part(whole, None)
        given = self.method_called(node, whole, "__getitem__", Arguments((key,)))
        if given is not None:
            return given
        if isinstance(whole, Made) and EACH in whole.facts:
            return whole.facts[EACH]
        if isinstance(key, Constant) or next(key.calls(), None) is None:
            return Part(whole, None)
        # a drawn index: what it gives depends on the draw
        return Derived("item", (Part(whole, None), key))

    def function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str
    ) -> Function:
        """Return the function that a definition or lambda makes, after evaluating its defaults."""
        frame = self.frame
        defaults = tuple(map(self.evaluate, node.args.defaults))
        by_keyword = (self.evaluate(one) if one else None for one in node.args.kw_defaults)
        made = Function(
            node=node,
            module=frame.module,
            around=frame,
            qualified=frame.name_of(name),
            defaults=defaults,
            keyword_defaults=tuple(by_keyword),
        )
        if frame.is_class:
            made.of_class = frame.of_class
        elif frame.around is not None:
            self.closures.append(made)
        return made

    _EXPRESSIONS: ClassVar[dict[type[ast.expr], Callable[..., Value]]] = {
        ast.Constant: lambda self, node: Constant(node.value),
        ast.Name: evaluate_name,
        ast.Attribute: lambda self, node: self.attribute(
            node, self.evaluate(node.value), node.attr
        ),
        ast.Call: Calls.call_of,
        ast.BinOp: evaluate_binary,
        ast.UnaryOp: evaluate_unary,
        ast.BoolOp: evaluate_boolean,
        ast.Compare: evaluate_compare,
        ast.IfExp: evaluate_conditional,
        ast.NamedExpr: evaluate_named,
        **dict.fromkeys(
            (ast.Await, ast.Starred, ast.FormattedValue),
            lambda self, node: self.evaluate(node.value),
        ),
        ast.Yield: evaluate_yield,
        ast.YieldFrom: evaluate_yield_from,
        ast.JoinedStr: evaluate_formatted,
        **dict.fromkeys((ast.List, ast.Tuple, ast.Set), evaluate_display),
        ast.Dict: evaluate_dict,
        **dict.fromkeys(COMPREHENSIONS, evaluate_comprehension),
        ast.Subscript: evaluate_subscript,
        ast.Lambda: lambda self, node: self.function(node, "<lambda>"),
    }


def combined(kind: str, one: Value, other: Value) -> Value:
    """Return the result of a binary operator; two lists that are added give one list."""
    match kind, one, other:
        case "Add", Items(), Items() if one.kind == other.kind:
            items = [*one.items, *other.items]
            is_whole = one.whole and other.whole and len(items) <= MOST_ITEMS
            return Items(one.kind, items[:MOST_ITEMS], whole=is_whole, over=(one, other))
    return computed(kind, one, other)


_CONTAINERS: dict[type[ast.expr], str] = {
    **dict.fromkeys((ast.List, ast.ListComp), "list"),
    ast.Tuple: "tuple",
    **dict.fromkeys((ast.Set, ast.SetComp), "set"),
    ast.GeneratorExp: "generator",
    ast.DictComp: "dict",
}
