"""Choose suspects, which are catalogue entries, for the first differing rung.

One function for each rung yields them, the best entry first.

Each suspect names the recorded facts that show it; from these `causes.evidence` decides whether it
is observed. A suspect that only fits, or rests on a line of the source, is suspected. A list of
known operators alone yields nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from reprocheck.causes.suspects.backward import gradient, later, reduced, update
from reprocheck.causes.suspects.data import batch
from reprocheck.causes.suspects.external_inputs import environment, of_given
from reprocheck.causes.suspects.forward import forward
from reprocheck.causes.suspects.generators import generators
from reprocheck.causes.suspects.inspection import Look, Suspect, if_hinted, only_suspected
from reprocheck.causes.suspects.start import files, hyper_parameters, weights
from reprocheck.model import RungName
from reprocheck.model.statements.causes import Circumstance

__all__ = ["Look", "Suspect", "suspects"]


def suspects(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for the first differing rung, the best first."""
    if look.check.record.compared:
        yield from _of_sides(look)
        return
    if not look.ladder.came_back and look.rung.rung != "files and arguments":
        yield Suspect(
            name="intermittent-difference",
            shown=look.recorded("agrees when repeated"),
            statements=(Circumstance(kind="repeated runs agree"),),
        )
    yield from _OF_RUNG[look.rung.rung](look)
    if look.rung.rung != "environment":
        yield from _beside(look)


def _of_sides(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for two separate recordings.

    First their input, then their environments, then other causes.

    Other causes are left out if the runs of each side agree among themselves, or if a changed
    program explains another hyper-parameter.
    """
    if look.rung.rung == "files and arguments":
        yield from of_given(look)
        return
    yield from _beside(look)
    given = look.ladder.rung("files and arguments").status == "differs"
    if look.quiet or (given and look.rung.rung == "hyper-parameters"):
        return
    yield from only_suspected(_OF_RUNG[look.rung.rung](look))


def _beside(look: Look) -> Iterator[Suspect]:
    """Yield differences of the environment, which explain only differences of rounding level."""
    if look.rung.size == "rounding":
        yield from only_suspected(environment(look))
        yield from if_hinted("compile-cache", look.hint("compile"), "a compilation")


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
