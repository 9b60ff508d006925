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

    code       code of the rule in the catalogue
    module     the user's module in which `node` stands
    node       the expression to underline
    message    one sentence without a full stop at its end: what is wrong here, with the names of
               this place
    severity   replaces that of the rule, as for a library; None keeps that of the rule
    patchable  whether this place can be patched; None leaves this to the rule
    evidence   names and values that the report may show
    step       the step of the order at which the check found it; None for a check of the text
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
    """A function that finds hits of some codes, for each module or for each order.

    codes      the codes of the rules
    in_module  the function for modules; None if the check is for orders
    in_order   the function for orders; None if the check is for modules
    """

    codes: tuple[str, ...]
    in_module: Checking | None = None
    in_order: CheckingOrder | None = None

    def hits(self, module: Module) -> Iterable[Hit]:
        """Return the hits of the check in the text of a module."""
        if self.in_module is None:
            return ()
        return self.in_module(module, module.project)

    def hits_in(self, order: Order) -> Iterable[Hit]:
        """Return the hits of the check in an order of steps."""
        if self.in_order is None:
            return ()
        return self.in_order(order)


_CHECKS: list[Check] = []


def check(*codes: str) -> Callable[[Checking], Checking]:
    """Register a function that finds hits of these codes in the text of a module."""

    def register(function: Checking) -> Checking:
        _CHECKS.append(Check(codes=codes, in_module=function))
        return function

    return register


def check_orders(
    *codes: str, unless: Sequence[Asking] = ()
) -> Callable[[CheckingOrder], CheckingOrder]:
    """Register a function that finds hits of these codes in an order of steps.

    It is skipped for orders for which one of the questions in `unless` is true.
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
    """Register a function that finds hits of these codes in whole programs.

    `unless` as in `check_orders`.
    """
    return check_orders(*codes, unless=(_is_library, *unless))


def _is_library(order: Order) -> bool:
    """Return whether an order is no whole program, so that its callers are unknown."""
    return not order.whole


def sets(variable: str) -> Asking:
    """Return a function that tells whether a program itself sets an environment variable."""
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
    """Return a hit at a step of an order, or at a node inside of it.

    message    what is wrong, without a full stop
    node       the expression to underline; None for that of the step
    severity   replaces that of the rule, if given
    patchable  whether the place can be patched; None leaves this to the rule
    more       evidence whose names are only known at run time
    evidence   facts of the place for reports and patches
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
    """Return all registered checks, after importing the modules in `checks/` by name."""
    from reprocheck.scan import checks as folder

    for module in sorted(module.name for module in iter_modules(folder.__path__)):
        import_module(f"{folder.__name__}.{module}")
    return tuple(_CHECKS)
