"""From the first differing rung to entries of the catalogue: one function a rung, best first.

What the ladder shows is `observed`; what only fits, or rests on a line of the source, is `suspected`. A list of operators alone yields
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from reprocheck.explain.suspects.backward import gradient, later, reduced, update
from reprocheck.explain.suspects.data import batch
from reprocheck.explain.suspects.environment import environment
from reprocheck.explain.suspects.forward import forward
from reprocheck.explain.suspects.generators import generators
from reprocheck.explain.suspects.look import Look, Suspect, line
from reprocheck.explain.suspects.start import files, hyper_parameters, weights
from reprocheck.model import RungName

__all__ = ["Look", "Suspect", "suspects"]


def suspects(look: Look) -> Iterator[Suspect]:
    """What the first differing rung points at, best first."""
    if look.check.record.compared:
        yield from _of_sides(look)
        return
    if not look.ladder.came_back:
        yield Suspect(name="intermittent-difference", evidence=("The runs that were recorded again agreed.",))
    yield from _OF_RUNG[look.rung.rung](look)
    if look.rung.rung != "environment":
        yield from _beside(look)


def _of_sides(look: Look) -> Iterator[Suspect]:
    """Of two recordings that were made apart: their environments, and what makes runs differ anyhow unless each side agrees with itself."""
    yield from _beside(look)
    noise = look.check.between.noise if look.check.between else ()
    if len(noise) < 2 or not all(side.equal for side in noise):
        yield from (replace(suspect, confidence="suspected") for suspect in _OF_RUNG[look.rung.rung](look))


def _beside(look: Look) -> Iterator[Suspect]:
    """Differences of the environment explain only a rounding-level difference."""
    if look.rung.size == "rounding":
        for suspect in environment(look):
            yield Suspect(name=suspect.name, confidence="suspected", evidence=suspect.evidence)
        if compiled := look.hint("compile"):
            yield Suspect(name="compile-cache", confidence="suspected", evidence=(line(compiled, "compiles"),), source=compiled.source)


_OF_RUNG: Mapping[RungName, Callable[[Look], Iterator[Suspect]]] = {
    "environment": environment,
    "files and arguments": files,
    "hyper-parameters": hyper_parameters,
    "initial weights": weights,
    "RNG state": generators,
    "batch": batch,
    "forward": forward,
    "loss": forward,
    "gradient": gradient,
    "reduced gradient": reduced,
    "update": update,
    "later": later,
}
