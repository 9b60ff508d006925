"""Hold the variables of a module, class or function during the abstract execution."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from reprocheck.scan.values import Class, Value, either

if TYPE_CHECKING:
    from reprocheck.scan.project import Module


@dataclass(eq=False, slots=True)
class Frame:
    """A scope that is being executed.

    module     the module of the code
    node       the module, class, function or lambda that is executed
    around     the frame in which the code was defined: its variables are visible here
    qualified  qualified name of the function or class
    variables  values by name
    outer      names that `global` (True) and `nonlocal` (False) assign in an outer frame
    stars      packages of `from ... import *` in a module
    of_class   the class of the method that is executed
    receiver   the object on which the method is called
    returns, yields   the values that the function has returned and yielded
    generator  whether the function yields
    """

    module: Module
    node: ast.AST
    around: Frame | None = None
    qualified: str = ""
    variables: dict[str, Value] = field(default_factory=dict)
    outer: dict[str, bool] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    of_class: Class | None = None
    receiver: Value | None = None
    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    generator: bool = False

    @property
    def is_class(self) -> bool:
        """Return whether the frame is the body of a class, whose names methods do not see."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def top(self) -> Frame:
        """Return the frame of the module."""
        *_, top = self.outward()
        return top

    def outward(self) -> Iterator[Frame]:
        """Yield this frame and the frames around it, up to that of the module."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.around

    def chain(self) -> Iterator[Frame]:
        """Yield the frames in which Python looks up a name, the innermost first."""
        yield self
        for frame in islice(self.outward(), 1, None):
            if not frame.is_class:
                yield frame

    def holder(self, name: str) -> Frame:
        """Return the frame in which an assignment to a name takes place."""
        if name not in self.outer:
            return self
        if self.outer[name]:
            return self.top
        _, *around = self.chain()
        functions = [frame for frame in around if frame.around is not None]
        return next((frame for frame in functions if name in frame.variables), self)

    def name_of(self, name: str) -> str:
        """Return the qualified name of a function or class that is defined in this frame."""
        return ".".join(filter(None, (self.qualified, name)))


def merged(one: dict[str, Value], other: dict[str, Value]) -> dict[str, Value]:
    """Return the variables after two branches; a variable that differs has both values as
    alternatives.
    """
    joined = dict(one)
    for name, value in other.items():
        if name not in joined:
            joined[name] = value
        elif joined[name] is not value:
            joined[name] = either([joined[name], value])
    return joined
