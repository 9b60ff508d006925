"""Execute programs in the abstract.

Statement by statement as Python would, but both branches of each condition whose value is not
known.

The interpreter is one class. Each file adds the methods of a subject: the state (`machine`), then
attributes, functions that libraries call, elements, known calls, calls, expressions, imports,
statements.

`program(module)` returns the steps of executing a module, `parts(module)` those of its functions
and classes that no program reaches.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from reprocheck.scan.execution.machine import MOST_CALLS_OF_FUNCTION, NOTHING, Frame, TooMuchError
from reprocheck.scan.execution.statements import Interpreter
from reprocheck.scan.order import Order
from reprocheck.scan.source import deep
from reprocheck.scan.syntax import is_guard
from reprocheck.scan.values import UNKNOWN, Class, Constant, Function, Place, Value, place

if TYPE_CHECKING:
    from reprocheck.scan.project import Module


__all__ = ["Body", "body", "parts", "program"]


MOST_STEPS_OF_FUNCTIONS = 60_000
"""Steps of the functions and classes of a module that no program reaches, after which calls in
further ones are not followed.
"""
Definition = tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None]
"""A function, and the class whose method it is."""


@dataclass(frozen=True, slots=True)
class Body:
    """The frame and machine of a module after its import."""

    frame: Frame
    machine: Interpreter


def body(module: Module) -> Body:
    """Return the executed body of a module.

    The incomplete body while the execution is still going on, because modules import one another.
    """
    loading = module.project.loading
    if id(module) not in loading:
        frame = _module_frame(module, module.name)
        machine = Interpreter(frame, most_calls=MOST_CALLS_OF_FUNCTION)
        loading[id(module)] = Body(frame, machine)
        _executed(machine, lambda: machine.block(module.tree.body))
    return loading[id(module)]


def program(module: Module) -> Order:
    """Return the order of executing a module.

    As a program if it is an entry module, else as an import.
    """
    if not module.is_entry:
        loaded = body(module)
        return _order(module, loaded.machine, whole=False)
    frame = _module_frame(module, "__main__")
    machine = Interpreter(frame, program=True)

    def run() -> None:
        machine.block(module.tree.body)
        machine.run_rest()

    _executed(machine, run)
    project = module.project
    project.executed |= machine.reached
    if _leaves_body(module):
        kept = machine
        if id(module) not in project.imported:
            # nobody replays its steps, so that only its variables are kept
            kept = Interpreter(frame)
        project.loading.setdefault(id(module), Body(frame, kept))
    return _order(module, machine, whole=True)


def parts(module: Module) -> tuple[Order, ...]:
    """Return an order for each function and class of a module that no program reaches."""
    executed = module.project.executed
    unreached = [one for one in _beginning(module) if place(module, one[0]) not in executed]
    if not unreached:
        return ()
    is_loaded = id(module) in module.project.loading
    if not is_loaded and module.is_entry and _leaves_body(module):
        program(module)
    frame = body(module).frame
    reached: set[Place] = set()
    found: list[Order] = []
    steps = evaluated = 0
    for function, owner in unreached:
        if place(module, function) in reached:
            continue
        follows = MOST_CALLS_OF_FUNCTION if steps < MOST_STEPS_OF_FUNCTIONS else 1
        machine = Interpreter(frame, most_calls=follows, evaluated=evaluated)
        value = frame.variables.get((owner or function).name)
        _executed(machine, partial(_start, machine, value, function, reached))
        steps += len(machine.steps)
        evaluated = machine.evaluated
        reached |= machine.reached | {place(module, function)}
        if machine.steps:
            parts = [getattr(owner, "name", ""), function.name]
            name = ".".join([module.name, *filter(None, parts)])
            found.append(_order(module, machine, whole=False, function=name))
    return tuple(found)


def _leaves_body(module: Module) -> bool:
    """Return whether a module leaves the same variables as a program and as an import.

    True, too, if nobody imports it.
    """
    is_imported = id(module) in module.project.imported
    return not is_imported or not any(map(is_guard, module.tree.body))


def _beginning(module: Module) -> Iterator[Definition]:
    """Yield the functions and methods at which to start.

    First functions that their module does not mention, then methods of classes, then other
    functions from the bottom up, because callers mostly stand below what they call.
    """
    mentioned = {node.id for node in module.index.of(ast.Name) if isinstance(node.ctx, ast.Load)}
    tops = [node for node in module.index.functions if _at_top(module, node)]
    yield from ((node, None) for node in tops if node.name not in mentioned)
    for node in module.index.classes:
        if _at_top(module, node):
            yield from ((method, node) for method in _constructor_first(node))
    yield from ((node, None) for node in reversed(tops) if node.name in mentioned)


def _constructor_first(node: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the methods of a class, `__init__` first."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef)
    methods = [one for one in node.body if isinstance(one, definitions)]
    return sorted(methods, key=lambda method: method.name != "__init__")


def _at_top(module: Module, node: ast.AST) -> bool:
    """Return whether a definition stands at the top level, perhaps in an `if` or `try`."""
    at = module.parent(node)
    while isinstance(at, ast.If | ast.Try | ast.With | ast.ExceptHandler):
        at = module.parent(at)
    return isinstance(at, ast.Module)


def _start(
    machine: Interpreter, value: Value | None, function: ast.AST, reached: Set[Place]
) -> None:
    """Execute a function with unknown arguments.

    For a class, make an object and execute all its methods that nothing reached.
    """
    options = (value or UNKNOWN).options()
    option = next((one for one in options if _defines(one, function)), None)
    if isinstance(option, Function):
        machine.inline(function, option)
    elif isinstance(option, Class):
        executed = machine.frame.module.project.executed
        constructor = option.find("__init__")
        machine.silent = isinstance(constructor, Function) and constructor.place in executed
        instance = machine.instantiated(function, option, NOTHING)
        machine.silent = False
        machine.run_methods(function, instance, skip=reached | executed)
    machine.run_rest()


def _defines(value: Value, function: ast.AST) -> bool:
    if isinstance(value, Function):
        return value.node is function
    return isinstance(value, Class) and any(function is member for member in value.node.body)


def _module_frame(module: Module, name: str) -> Frame:
    frame = Frame(module=module, node=module.tree, qualified=module.name)
    frame.variables = {"__name__": Constant(name), "__file__": Value()}
    return frame


def _order(module: Module, machine: Interpreter, *, whole: bool, function: str = "") -> Order:
    return Order(
        root=module,
        whole=whole,
        function=function,
        steps=machine.steps,
        values=machine.values,
        cut=machine.cut,
        deep=machine.deep,
    )


def _executed(machine: Interpreter, run: Callable[[], object]) -> None:
    """Run an execution with a raised recursion limit.

    The machine is marked as cut if a limit is exceeded.
    """
    with deep():
        try:
            run()
        except RecursionError:
            machine.cut = machine.deep = True
        except TooMuchError:
            machine.cut = True
