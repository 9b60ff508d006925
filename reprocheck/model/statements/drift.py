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
    """Whether what was seen is what the differences of the environment let one expect.

    equal     whether the losses are, in every bit; None where none were compared
    beside    series beside the losses that differ
    acting    the titles of the classes of differences that may change numbers
    noise     within the sides
    quiet     how many runs of each side agree, where that is known of both
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
