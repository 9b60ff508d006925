"""The table of checks: which function finds which codes.

See `reprocheck.scan` for how one is written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from reprocheck.scan.steps import Step

if TYPE_CHECKING:
    from reprocheck.rules.catalogue import Severity
    from reprocheck.scan.order import Order
    from reprocheck.scan.project import Module, Project

Checking = Callable[["Module", "Project"], Iterable["Hit"]]
CheckingOrder = Callable[["Order"], Iterable["Hit"]]
Asking = Callable[["Order"], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A place where a rule applies.

    code       of the catalogue's entry
    module     the user's module in which `node` stands
    node       what is underlined
    message    one sentence without a full stop at its end: what is wrong here, with the names of
               this place
    severity   where it is another than the entry's: less sure in a library, for example
    patchable  whether this place can be patched; None leaves it to the entry
    evidence   names and values that the report may show
    step       what it was found at, if it was found in an order
    """

    code: str
    module: Module
    node: ast.AST
    message: str
    severity: Severity | None = None
    patchable: bool | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)
    step: Step | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A function that finds hits of some codes: in a module, once for each, or in an order."""

    codes: tuple[str, ...]
    in_module: Checking | None = None
    in_order: CheckingOrder | None = None

    def hits(self, module: Module) -> Iterable[Hit]:
        """Return what it finds in a module whatever is executed."""
        if self.in_module is None:
            return ()
        return self.in_module(module, module.project)

    def hits_in(self, order: Order) -> Iterable[Hit]:
        """Return what it finds in an order."""
        if self.in_order is None:
            return ()
        return self.in_order(order)


_CHECKS: list[Check] = []


def check(*codes: str) -> Callable[[Checking], Checking]:
    """Register a function that finds hits of these codes in a module."""

    def register(function: Checking) -> Checking:
        _CHECKS.append(Check(codes=codes, in_module=function))
        return function

    return register


def check_orders(
    *codes: str, unless: Sequence[Asking] = ()
) -> Callable[[CheckingOrder], CheckingOrder]:
    """Register a function that finds hits of these codes in an order of a module: in each one of
    which none of the questions in `unless` is true.
    """

    def register(function: CheckingOrder) -> CheckingOrder:
        def unless_excused(order: Order) -> Iterable[Hit]:
            if any(excuses(order) for excuses in unless):
                return ()
            return function(order)

        _CHECKS.append(Check(codes=codes, in_order=unless_excused))
        return function

    return register


def check_programs(
    *codes: str, unless: Sequence[Asking] = ()
) -> Callable[[CheckingOrder], CheckingOrder]:
    """Return the same, in an order that is a whole program."""
    return check_orders(*codes, unless=(_is_library, *unless))


def _is_library(order: Order) -> bool:
    """Return whether an order is a part of a program alone, of whose callers nothing is known."""
    return not order.whole


def sets(variable: str) -> Asking:
    """Return the question whether a program sets an environment variable itself."""
    return lambda order: any(order.environment(variable))


def hit(
    code: str,
    step: Step,
    message: str,
    *,
    node: ast.AST | None = None,
    severity: Severity | None = None,
    patchable: bool | None = None,
    more: Mapping[str, str] | None = None,
    **evidence: str,
) -> Hit:
    """Return a hit at a step of an order, or at a part of it (`node`).

    `more` is evidence under names that are known at run time alone.
    """
    return Hit(
        code=code,
        module=step.module,
        node=node or step.node,
        message=message,
        severity=severity,
        patchable=patchable,
        evidence={**evidence, **(more or {})},
        step=step,
    )


@cache
def checks() -> tuple[Check, ...]:
    """Return all checks: those of the modules in `checks/`, by name of the module."""
    from reprocheck.scan import checks as folder

    for module in sorted(module.name for module in iter_modules(folder.__path__)):
        import_module(f"{folder.__name__}.{module}")
    return tuple(_CHECKS)
