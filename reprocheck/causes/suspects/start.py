"""Suspects for what precedes the training: files, hyper-parameters, initial weights."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.causes.evidence import SEEDED_EQUALLY, Recorded
from reprocheck.causes.suspects.data import drawn_before, drawn_early, origins
from reprocheck.causes.suspects.external_inputs import of_given
from reprocheck.causes.suspects.generators import by_seeds
from reprocheck.causes.suspects.inspection import Look, Suspect, by_hint, if_hinted, unseeded
from reprocheck.causes.suspects.path import other_path
from reprocheck.ladder.external_inputs import made_by_each_run
from reprocheck.model.evidence import (
    GivenOtherwise,
    HyperParameterDiffers,
    Loaded,
    WeightsDiffer,
)
from reprocheck.model.statement import Statement
from reprocheck.model.statements.causes import (
    Circumstance,
    FilesOfRun1,
    LoadedFile,
    NotInCheckpoint,
    OtherNumberOfWeights,
)
from reprocheck.model.statements.fixes import CatalogueFix, Parts
from reprocheck.rules import entry

_NO_STATE = Circumstance(kind="no state of a generator")
_STATES_AGREE = Circumstance(kind="states agree")
_LEFT_OVER = Circumstance(kind="like left-over memory")
_MEMORY = "uninitialised-memory"


def files(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for files that a run left, or for other input."""
    left = look.check.state_left
    if isinstance(look.rung.evidence, GivenOtherwise):
        yield from of_given(look)
    elif left:
        reads = (run.first_reads.get(left[0]) for run in look.check.runs[1:])
        first_read = next((read.line for read in reads if read is not None), "")
        yield Suspect(
            name="state-left",
            shown=tuple(Recorded(kind="file left by run 1", of=path) for path in left),
            statements=(FilesOfRun1(number=len(left)),),
            source=look.line_at(first_read),
        )


def hyper_parameters(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for hyper-parameters, or for an update that only one run makes.

    Hyper-parameters may be computed or drawn.
    """
    if look.rung.another_path:
        yield from other_path(look)
        return
    if look.shown(HyperParameterDiffers).other_weights:
        yield from origins(look)
    clock = look.hint("clock", "entropy")
    shown = look.recorded("value differs")
    drifting = by_hint("drifting-hyper-parameter", clock, "the clock or the system", shown)
    if clock is None:
        yield from if_hinted("random-hyper-parameter", look.hint("draw"), "a draw")
        measured = look.hint("elapsed")
        drifting = by_hint("drifting-hyper-parameter", measured, "a duration", shown)
    yield drifting


def weights(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for initial weights, by the generator states when they were made."""
    shown = look.shown(WeightsDiffer)
    shapes = look.rung.measured.shapes
    if shapes is not None:
        # what says how large the model is, is not the same in each run
        sizes = (OtherNumberOfWeights(shapes=shapes),)
        clock = look.hint("clock", "entropy")
        yield by_hint("random-hyper-parameter", look.hint("draw"), "a draw", statements=sizes)
        yield by_hint(
            "drifting-hyper-parameter", clock, "the clock or the system", statements=sizes
        )
        return
    if shown.missing_from is not None:
        missing = NotInCheckpoint(module=shown.missing_from)
        yield Suspect(
            name="partial-checkpoint", shown=look.recorded("key missing"), statements=(missing,)
        )
    if shown.loaded is not None:
        yield from _loaded_otherwise(look, shown.loaded)
        return
    seeded = {fact.kind for fact in look.generator_facts()} - {"state differs"}
    if shown.filled_in_other_order and seeded <= SEEDED_EQUALLY:
        yield from origins(look)
        yield Suspect(
            name="different-path",
            shown=look.recorded("path differs"),
            statements=(Circumstance(kind="weights in another order"),),
            source=look.rung.source,
        )
    elif shown.generators.drawn:
        if look.rung.measured.like_left_over_memory:
            # no initialiser draws such numbers, whatever else drew from the generator
            memory = look.hint("memory")
            yield by_hint(_MEMORY, memory, "an unfilled tensor", statements=(_LEFT_OVER,))
        yield from by_seeds(look, unseeded="unseeded-weights", late="seed-after-model")
    elif shown.states_known:
        yield from _unfilled(look)
    else:
        yield from _without_states(look)


def _loaded_otherwise(look: Look, loaded: Loaded) -> Iterator[Suspect]:
    """Yield the suspects if a weight file holds other weights in each run.

    Either each run drew the weights before it wrote the file, or the runs were given other files.
    """
    file, source = loaded.file, look.line_at(loaded.line)
    if made_by_each_run(look.check, file):
        written = LoadedFile(file=file, kind="written by each run")
        yield Suspect(
            name="unseeded-weights",
            statements=(written,),
            source=source,
            fix=_in_what_writes(look, file),
        )
        return
    shown = (Recorded(kind="contents differ", of=file),)
    differs = LoadedFile(file=file, kind="not the same")
    yield Suspect(name="changing-input", shown=shown, statements=(differs,), source=source)
    drawn = LoadedFile(file=file, kind="drawn by its writer")
    yield Suspect(name="unseeded-weights", statements=(drawn,), fix=_in_what_writes(look, file))


def _in_what_writes(look: Look, file: str) -> Parts:
    """Return the seeds of the framework as a fix for the program that writes the file.

    A seed in the process that loads the file does not change the weights in it.
    """
    seeds = CatalogueFix(code=entry("unseeded-weights").code, keys=look.frameworks)
    return Parts(parts=(f"# in the program that writes {file}:\n", seeds))


def _unfilled(look: Look) -> Iterator[Suspect]:
    """Yield the suspects if the generators agree: uninitialized memory, or a private draw."""
    here = look.code.on(look.rung.source, "memory", "entropy", "clock")
    odd = look.rung.measured.like_left_over_memory
    agree: tuple[Statement, ...] = (_STATES_AGREE,)
    if odd:
        agree = (_STATES_AGREE, _LEFT_OVER)
    shown = look.recorded("memory not filled")
    if here is not None and here.kind == "memory":
        yield by_hint(_MEMORY, here, "an unfilled tensor", shown, agree)
        return
    private = here or look.hint("entropy")
    if odd:
        yield Suspect(name=_MEMORY, shown=shown, statements=agree)
        yield from if_hinted("private-initialiser", private, "a draw of the system or the clock")
        return
    yield from unseeded("unseeded-weights", look.unseeded_draw())
    own = by_hint("private-initialiser", private, "a draw of the system or the clock")
    unfilled = Suspect(name=_MEMORY, statements=agree)
    # a line that makes the very weight says more than one that stands anywhere
    if here is not None:
        yield from (own, *origins(look), unfilled)
    else:
        yield from (*origins(look), unfilled, own)


def _without_states(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for weights made while no generator was recorded.

    They were loaded, copied, or made in another process.
    """
    system = look.hint("entropy", "clock")
    shown = look.shown(WeightsDiffer)
    early = shown.drawn_before_seed
    if early:
        yield Suspect(
            name="seed-after-model",
            shown=drawn_before(early),
            statements=drawn_early(early),
            source=look.code.assigned(look.rung.place or "") or look.rung.source,
        )
        yield by_hint("private-initialiser", look.hint("entropy"), "a generator or a draw")
        return
    if shown.generators.seeded:
        own = by_hint("private-initialiser", system, "a draw of the system or the clock")
        drawn = Suspect(name="unseeded-weights", statements=(_NO_STATE,), source=look.rung.source)
        yield from (own, drawn) if system else (drawn, own)
        return
    if "jax" in look.frameworks and system:
        yield by_hint("clock-seed", system, "the system or the clock")
        return
    nothing = Circumstance(kind="nothing seeded before it")
    yield Suspect(name="unseeded-weights", statements=(_NO_STATE, nothing))
    yield from if_hinted("private-initialiser", system, "a draw of the system or the clock")
