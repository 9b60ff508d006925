"""Execute imports and other statements in order; the interpreter as a whole."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import IntEnum
from functools import reduce
from typing import TYPE_CHECKING, ClassVar

from reprocheck.scan.aliases import canonical
from reprocheck.scan.execution.expressions import Expressions, combined, compared, truth
from reprocheck.scan.execution.machine import Arguments, Frame, merged
from reprocheck.scan.names import absolute
from reprocheck.scan.steps import Condition
from reprocheck.scan.values import (
    UNKNOWN,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Items,
    Package,
    Part,
    Value,
    either,
)
from reprocheck.scan.vocabulary import names, words

if TYPE_CHECKING:
    from reprocheck.scan.project import Module


def _may_be(value: Value | None, module: Module) -> bool:
    """Return whether an attribute of a package may be the package's module of that name."""
    match value:
        case Package():
            return value.module is module
        case None | Part():
            return True
    return value is UNKNOWN


ENDS = words("execution", "ends")
_KINDS = {
    "builtins.property": "property",
    "functools.cached_property": "property",
    "torch.jit.unused": "",
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
}
_OF_PROPERTIES = names("execution", "of_properties")


class Flow(IntEnum):
    """How a statement ends: go on, jump (`break`, `continue`), return, or raise."""

    NEXT = 0
    JUMP = 1
    RETURN = 2
    RAISE = 3


class Interpreter(Expressions):
    """Executes statements."""

    def block(self, body: list[ast.stmt]) -> Flow:
        """Execute statements in order, until one of them leaves the block."""
        for statement in body:
            execute = self._STATEMENTS.get(type(statement))
            flow = execute and execute(self, statement)
            if flow:
                return flow
        return Flow.NEXT

    def execute_expression(self, node: ast.Expr) -> Flow:
        value = self.evaluate(node.value)
        if isinstance(node.value, ast.Call) and value.made_by(*ENDS) is not None:
            return Flow.RAISE
        return Flow.NEXT

    def execute_assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)

    def execute_annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))

    def execute_augmented(self, node: ast.AugAssign) -> None:
        added = self.evaluate(node.value)
        before = self.evaluate(node.target)
        self.assign(node.target, combined(type(node.op).__name__, before, added))

    def execute_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.frame.variables.pop(target.id, None)
            else:
                self.evaluate(target)

    def execute_return(self, node: ast.Return) -> Flow:
        value: Value = Constant(None)
        if node.value is not None:
            value = self.evaluate(node.value)
        self.frame.returns.append(value)
        return Flow.RETURN

    def execute_raise(self, node: ast.Raise) -> Flow:
        if node.exc is not None:
            self.evaluate(node.exc)
        return Flow.RAISE

    def execute_assert(self, node: ast.Assert) -> None:
        self.evaluate(node.test)

    def execute_if(self, node: ast.If) -> Flow:
        known = truth(self.evaluate(node.test))
        if known is True:
            return self.block(node.body)
        if known is False:
            return self.block(node.orelse)
        # Both branches. After one that leaves, what follows stands under the other.
        frame = self.frame
        holds, fails = Condition(node.test, True), Condition(node.test, False)
        before = dict(frame.variables)
        with self.under(holds):
            first = self.block(node.body)
        after_first, frame.variables = frame.variables, before
        with self.under(fails):
            second = self.block(node.orelse)
        if first and second:
            return min(first, second)
        if first:
            if first != Flow.RAISE:
                self.conditions = (*self.conditions, fails)
            return Flow.NEXT
        if second:
            if second != Flow.RAISE:
                self.conditions = (*self.conditions, holds)
            frame.variables = after_first
            return Flow.NEXT
        frame.variables = merged(after_first, frame.variables)
        return Flow.NEXT

    def execute_try(self, node: ast.Try) -> Flow:
        frame = self.frame
        flow = self.block([*node.body, *node.orelse])
        after = frame.variables
        flows = [flow]
        for handler in node.handlers:
            frame.variables = dict(after)
            with self.under(Condition(handler, True)):
                if handler.type is not None:
                    self.evaluate(handler.type)
                if handler.name:
                    self.bind(handler.name, UNKNOWN)
                left = self.block(handler.body)
            flows.append(left)
            if left:
                continue
            reached = frame.variables
            if not flow:
                # what follows is reached by the body as well
                reached = merged(after, reached)
            after = reached
        frame.variables = after
        final = self.block(node.finalbody)
        if final:
            return final
        if flow and not all(flows):
            self.conditions = (*self.conditions, Condition(node, False))
            return Flow.NEXT
        return flow

    def execute_match(self, node: ast.Match) -> Flow:
        frame = self.frame
        subject = self.evaluate(node.subject)
        before = frame.variables
        left: list[dict[str, Value]] = []
        flows: list[Flow] = []
        for case in node.cases:
            if isinstance(case.pattern, ast.MatchSingleton):
                singleton = Constant(case.pattern.value)
                if compared(subject, ast.Is, singleton) is False:
                    continue
            frame.variables = dict(before)
            with self.under(Condition(case, True)):
                for part in ast.walk(case.pattern):
                    name = getattr(part, "name", None) or getattr(part, "rest", None)
                    if isinstance(name, str):
                        self.bind(name, Part(subject, None))
                if case.guard is not None:
                    self.evaluate(case.guard)
                flows.append(self.block(case.body))
            if not flows[-1]:
                left.append(frame.variables)
        if flows and not left:
            match node.cases[-1]:
                # `case _:`, and `case name:`
                case ast.match_case(pattern=ast.MatchAs(pattern=None), guard=None):
                    return min(flows)
        frame.variables = before
        if left:
            frame.variables = merged(before, reduce(merged, left))
        return Flow.NEXT

    def execute_for(self, node: ast.For) -> Flow:
        value = self.evaluate(node.iter)
        self.loop(node, value)
        item = self.element(node, value)
        with self.looping():
            self.assign(node.target, item)
            flow = self.block(node.body)
        if flow >= Flow.RETURN and not node.orelse:
            return Flow.NEXT
        return self.block(node.orelse)

    def execute_while(self, node: ast.While) -> Flow:
        known = truth(self.evaluate(node.test))
        if known is False:
            return self.block(node.orelse)
        with self.looping():
            flow = self.block(node.body)
        if known and flow >= Flow.RETURN:
            return flow
        return self.block(node.orelse)

    def execute_with(self, node: ast.With) -> Flow:
        contexts = []
        for item in node.items:
            value = self.evaluate(item.context_expr)
            contexts.append(value)
            entered = self.method_called(item.context_expr, value, "__enter__")
            if entered is None:
                entered = value
                match value:
                    case Items(kind="generator", items=[_, *_] as items):
                        entered = either(items)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered)
        with self.inside(tuple(contexts)):
            flow = self.block(node.body)
        for item, value in zip(node.items, contexts, strict=True):
            error = Arguments((UNKNOWN, UNKNOWN, UNKNOWN))
            self.method_called(item.context_expr, value, "__exit__", error)
        return flow

    def execute_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        function = self.function(node, node.name)
        value: Value = function
        for decorator in reversed(node.decorator_list):
            # A decorated function is taken for itself: what it is called for stays.
            made = self.evaluate(decorator)
            kind = _KINDS.get(made.name or "")
            if kind is not None:
                function.kind = kind
            elif isinstance(decorator, ast.Attribute) and decorator.attr in _OF_PROPERTIES:
                value = self.frame.variables.get(node.name, value)
            elif isinstance(made, Function | Instance):
                self.wrap(decorator, made, function)
        self.bind(node.name, value)

    def execute_class(self, node: ast.ClassDef) -> None:
        frame = self.frame
        bases = tuple(map(self.evaluate, node.bases))
        for keyword in node.keywords:
            self.evaluate(keyword.value)
        for decorator in node.decorator_list:
            self.evaluate(decorator)
        qualified = frame.name_of(node.name)
        inner = Frame(module=frame.module, node=node, around=frame, qualified=qualified)
        made = Class(node, frame.module, qualified, bases, inner.variables)
        inner.of_class = made
        with self.within(inner):
            self.block(node.body)
        made.attributes = inner.variables
        self.bind(node.name, made)

    def import_whole(self, node: ast.Import) -> None:
        """Execute `import a.b` or `import a.b as c`."""
        for alias in node.names:
            own = self._load(node, alias.name)
            if alias.asname:
                self.bind(alias.asname, own or External(canonical(alias.name)))
            else:
                first = alias.name.partition(".")[0]
                package: Value = External(canonical(first))
                if own is not None:  # a module of the user's, in a package that may be none
                    top = self.frame.module.project.module(first, self.frame.module)
                    package = Part(UNKNOWN, first) if top is None else Package(top)
                self.bind(first, package)

    def import_names(self, node: ast.ImportFrom) -> None:
        """Execute `from a import b`, `from . import b`, `from a import *`."""
        module = self.frame.module
        origin = absolute(node.level, node.module or "", module.name, package=module.package)
        own = self._load(node, origin)
        for alias in node.names:
            if alias.name == "*":
                self._star(origin, own)
                continue
            dotted = f"{origin}.{alias.name}"
            member: Value | None = None
            if own is not None:
                member = self.attribute(node, own, alias.name)
            inner = module.project.module(dotted, module)
            if inner is not None and _may_be(member, inner):
                member = self._load(node, dotted)
            self.bind(
                alias.asname or alias.name,
                member or External(canonical(dotted.removeprefix("."))),
            )

    def _load(self, node: ast.stmt, name: str) -> Package | None:
        """Execute a user's module and the packages around it, and return it.

        None for a library, whose import is recorded.
        """
        here = self.frame.module
        module = here.project.module(name, here)
        if module is None:
            self.imports(node, name)
        for package in here.project.along(name, here):
            self.executes(node, package)
        if module is None:
            return None
        return Package(module)

    def _star(self, origin: str, own: Package | None) -> None:
        if own is None:
            self.frame.top.stars.append(canonical(origin))
            return
        brought = own.module.body.frame
        public = [name for name in brought.variables if not name.startswith("_")]
        for name in public:
            self.bind(name, brought.variables[name])
        self.frame.top.stars.extend(brought.stars)

    _STATEMENTS: ClassVar[dict[type[ast.stmt], Callable[..., Flow | None]]] = {
        ast.Expr: execute_expression,
        ast.Assign: execute_assign,
        ast.AnnAssign: execute_annotated,
        ast.AugAssign: execute_augmented,
        ast.Delete: execute_delete,
        ast.Return: execute_return,
        ast.Raise: execute_raise,
        **dict.fromkeys((ast.Break, ast.Continue), lambda self, node: Flow.JUMP),
        ast.Assert: execute_assert,
        ast.If: execute_if,
        **dict.fromkeys((ast.Try, ast.TryStar), execute_try),
        ast.Match: execute_match,
        **dict.fromkeys((ast.For, ast.AsyncFor), execute_for),
        ast.While: execute_while,
        **dict.fromkeys((ast.With, ast.AsyncWith), execute_with),
        **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), execute_function),
        ast.ClassDef: execute_class,
        ast.Global: lambda self, node: self.frame.outer.update(dict.fromkeys(node.names, True)),
        ast.Nonlocal: lambda self, node: self.frame.outer.update(dict.fromkeys(node.names, False)),
        ast.Import: import_whole,
        ast.ImportFrom: import_names,
    }
    """What gives back nothing goes on with the next statement."""
