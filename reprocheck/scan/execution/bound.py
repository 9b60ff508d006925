"""Methods that are bound to their object."""

from __future__ import annotations

from reprocheck.scan.values import Function, Instance, Value


def bound_to(function: Function, owner: Value) -> Function:
    """A method of an object or class."""
    if function.kind == "static":
        return function
    if function.kind == "class" and isinstance(owner, Instance):
        owner = owner.of
    return Function(
        node=function.node,
        module=function.module,
        around=function.around,
        qualified=function.qualified,
        owner=owner,
        of_class=function.of_class,
        defaults=function.defaults,
        keyword_defaults=function.keyword_defaults,
        first=function.first,
        named=function.named,
        kind=function.kind,
        wrapper=function.wrapper,
    )
