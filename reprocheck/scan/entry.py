"""Which modules are programs, and which are libraries that only others know how to use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reprocheck.scan.steps import Call

if TYPE_CHECKING:
    from reprocheck.scan.project import Module

TRAINING = frozenset(
    {
        "backward",
        "step",
        "zero_grad",
        "fit",
        "train_on_batch",
        "fit_generator",
        "apply_gradients",
        "minimize",
        "update",
    }
)
"""Methods whose call at the top level of a module is a training; `update` and `step` count inside
of a loop only.
"""
_IN_LOOP = frozenset({"step", "update"})
_DRIVERS = frozenset(
    {
        "lightning.pytorch.Trainer().fit",
        "transformers.Trainer().train",
        "mindspore.train.Model().train",
        "mindspore.Model().train",
    }
    | {
        "jax.grad",
        "jax.value_and_grad",
        "mindspore.value_and_grad",
        "mindspore.ops.value_and_grad",
        "torch.autograd.grad",
    }
)


def is_entry(module: Module) -> bool:
    """Whether a module is a program."""
    if any(is_guard(statement) for statement in module.tree.body) or _trains(module):
        return True
    if module.package or id(module) in module.project.imported:
        return False
    return module.single or _acts(module)


def _acts(module: Module) -> bool:
    """Whether a module that nobody imports trains, seeds or draws as soon as it is executed, itself
    or in functions that it calls.
    """
    from reprocheck.scan.checks import streams, tables

    calls = [step for step in module.body.machine.steps if isinstance(step, Call)]
    return any(
        streams.is_training(call) or call.name in tables.seeds() or call.name in tables.draws()
        for call in calls
    )


def is_guard(statement: ast.AST) -> bool:
    """Whether a statement is `if __name__ == "__main__":`."""
    test = getattr(statement, "test", None)
    if not isinstance(statement, ast.If) or not isinstance(test, ast.AST):
        return False
    parts = list(ast.walk(test))
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in parts) and any(
        isinstance(part, ast.Constant) and part.value == "__main__" for part in parts
    )


def _trains(module: Module) -> bool:
    """Whether the top level, outside of functions and classes, trains."""
    for node, in_loop in _top_level(module.tree.body, in_loop=False):
        if isinstance(node, ast.Call):
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if method in TRAINING and (in_loop or method not in _IN_LOOP):
                return True
            if module.names.of(node.func) in _DRIVERS:
                return True
    return False


def _top_level(body: list[ast.stmt], *, in_loop: bool) -> Iterator[tuple[ast.AST, bool]]:
    waiting: list[tuple[ast.AST, bool]] = [(statement, in_loop) for statement in body]
    while waiting:
        node, looped = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield node, looped
        inner = looped or isinstance(node, ast.For | ast.While | ast.AsyncFor)
        waiting.extend((child, inner) for child in ast.iter_child_nodes(node))
