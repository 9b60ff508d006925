"""The variables of a module, class or function while it is executed in the abstract."""

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
    """A scope at work.

    around     the frame in which its code was defined: its variables are visible here
    outer      names that `global` and `nonlocal` leave to a frame around it
    stars      packages of `from ... import *`, of a module
    of_class   the class whose method it is; `receiver` is what it is bound to
    returns, yields   the values that were given back
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
        """Return whether it is the body of a class, which methods do not see."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def top(self) -> Frame:
        """The frame of the module."""
        *_, top = self.outward()
        return top

    def outward(self) -> Iterator[Frame]:
        """Yield the frame and those around it, up to that of the module."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.around

    def chain(self) -> Iterator[Frame]:
        """Yield the frames in which a name is looked up."""
        yield self
        for frame in islice(self.outward(), 1, None):
            if not frame.is_class:
                yield frame

    def holder(self, name: str) -> Frame:
        """Return the frame to which an assignment of a name goes."""
        if name not in self.outer:
            return self
        if self.outer[name]:
            return self.top
        _, *around = self.chain()
        functions = [frame for frame in around if frame.around is not None]
        return next((frame for frame in functions if name in frame.variables), self)

    def name_of(self, name: str) -> str:
        """Return the qualified name of something defined here."""
        return ".".join(filter(None, (self.qualified, name)))


def merged(one: dict[str, Value], other: dict[str, Value]) -> dict[str, Value]:
    """Return the variables after two branches."""
    joined = dict(one)
    for name, value in other.items():
        if name not in joined:
            joined[name] = value
        elif joined[name] is not value:
            joined[name] = either([joined[name], value])
    return joined
