"""Evaluate expressions: their values, and the steps that the evaluation takes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

from reprocheck.scan.aliases import free_name
from reprocheck.scan.execution.calls import Calls
from reprocheck.scan.execution.library_calls import EACH
from reprocheck.scan.execution.machine import Arguments, Frame
from reprocheck.scan.index import of_kind
from reprocheck.scan.names import COMPREHENSIONS
from reprocheck.scan.steps import Condition
from reprocheck.scan.values import (
    UNKNOWN,
    Class,
    Constant,
    Derived,
    Either,
    External,
    Function,
    Instance,
    Items,
    Made,
    Package,
    Part,
    Value,
    are_constants,
    either,
)
from reprocheck.scan.vocabulary import names

LARGEST = 10**18

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: lambda one, other: one is other,
    ast.IsNot: lambda one, other: one is not other,
}
_SAME_AS_NONE: dict[type[ast.cmpop], bool] = {
    **dict.fromkeys((ast.Is, ast.Eq), False),
    **dict.fromkeys((ast.IsNot, ast.NotEq), True),
}
"""What a comparison with None comes to for what cannot be None."""
_IS_IN: dict[type[ast.cmpop], bool] = {ast.In: True, ast.NotIn: False}
"""Whether a comparison asks for what a container holds, or for what it does not."""
_COMPUTED: dict[str, Callable[..., object]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Div": operator.truediv,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "RShift": operator.rshift,
}
_SOMETHING = frozenset(f"builtins.{name}" for name in names("execution", "something"))


def truth(value: Value) -> bool | None:
    """Return whether a value is true; None if this is not known."""
    match value:
        case Constant(value=constant):
            return bool(constant)
        case External(dotted="typing.TYPE_CHECKING"):
            return False
        case Items(whole=True, items=[_, *_], over=()):
            return True
        case Class() | Function() | Package():
            return True
        case Either(choices=choices):
            known = set(map(truth, choices))
            if len(known) == 1:
                return known.pop()
    return None


def compared(one: Value, kind: type[ast.cmpop], other: Value) -> bool | None:
    """Return the result of a comparison; None if it is not known."""
    match one, other:
        case Constant(value=left), Constant(value=right) if kind in _COMPARED:
            with suppress(TypeError):
                return bool(_COMPARED[kind](left, right))
        case _, Constant(value=None) if kind in _SAME_AS_NONE and _differs_from_none(one, kind):
            return _SAME_AS_NONE[kind]
        case Constant(value=wanted), Items(whole=True, over=()) if kind in _IS_IN:
            if are_constants(other.elements):
                is_in = wanted in [item.value for item in other.elements]
                return is_in is _IS_IN[kind]
    return None


def _differs_from_none(value: Value, kind: type[ast.cmpop]) -> bool:
    """Return whether a value is surely different from None.

    For `==`, an object of a user's class may define equality itself, and so is not sure.
    """
    by_identity = kind in (ast.Is, ast.IsNot)
    has_own = any(isinstance(option, Instance) for option in value.options())
    if has_own and not by_identity:
        return False
    return _is_something(value)


def _is_something(value: Value) -> bool:
    """Return whether a value cannot be None."""
    match value:
        case Class() | Function() | Instance() | Items() | Package():
            return True
        case Constant(value=constant):
            return constant is not None
        case Derived(kind=kind):
            # Kinds of derived values that are one of their parts. All others are results of
            # operators, or text that was put together.
            return kind not in {"And", "item", "Await"}
        case Either(choices=choices):
            return all(map(_is_something, choices))
        case Made(call=call):
            return call.method[:1].isupper() or call.name in _SOMETHING
    return False


def computed(kind: str, one: Value, other: Value) -> Value:
    """Return the result of an operator: a constant if both operands are small constants."""
    match kind, one, other:
        case "Pow", Constant(value=2), Constant(value=31 | 32 as exponent):
            return Constant(2 ** int(exponent))
        case _, Constant(value=left), Constant(value=right) if kind in _COMPUTED:
            if _small(left) and _small(right):
                with suppress(TypeError, ValueError, ArithmeticError):
                    return Constant(_COMPUTED[kind](left, right))
    return Derived(kind, (one, other))


def _small(value: object) -> bool:
    if isinstance(value, str):
        return len(value) < 200
    return isinstance(value, int | float) and abs(value) < LARGEST


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
        """Evaluate `and` or `or`.

        Later operands run under the condition of the earlier ones, or not at all if a constant
        decides.
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
