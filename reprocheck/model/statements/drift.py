"""Two recordings that were made apart: what is to be thought of the difference between them."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.statement import Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise:
    """The runs of sides differ among themselves, by so much in a checked loss; `between`: the
    largest difference between the sides.
    """

    sides: tuple[str, ...]
    most: float
    between: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SidesCompared(Statement):
    """Whether the observed difference is one that the differences of the environment can cause.

    equal     whether the losses are equal in every bit; None if no losses were compared
    beside    the reported series that differ besides the losses
    acting    the titles of the classes of environment differences that may change numbers
    noise     the differences among the runs of each side
    quiet     how many runs of each side agree with each other, if that is known of both sides
    anything  whether one of the classes can cause any difference
    rounding  whether the first difference is of rounding level
    """

    equal: bool | None
    beside: tuple[str, ...]
    acting: tuple[str, ...]
    noise: Noise | None
    quiet: tuple[int, ...]
    anything: bool
    rounding: bool
