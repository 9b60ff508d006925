"""What stands before the training: files, hyper-parameters, initial weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reprocheck.causes.evidence import SEEDED_EQUALLY, Recorded
from reprocheck.causes.suspects.data import drawn_before, drawn_early, origins
from reprocheck.causes.suspects.generators import by_seeds
from reprocheck.causes.suspects.given import of_given
from reprocheck.causes.suspects.look import (
    PRIVATE,
    Look,
    Suspect,
    by_hint,
    if_hinted,
    unseeded,
)
from reprocheck.causes.suspects.path import other_path
from reprocheck.ladder.given import made_by_each_run
from reprocheck.language import form, mark, tr
from reprocheck.model.evidence import (
    GivenOtherwise,
    HyperParameterDiffers,
    Loaded,
    WeightsDiffer,
)
from reprocheck.model.letters import capital
from reprocheck.rules import entry
from reprocheck.wording.ladder.start import other_sizes
from reprocheck.wording.ladder.words import checkpoint, code

_SYSTEM = mark("draws from the system, from a generator without a seed, or from the clock")
_NO_STATE = mark(
    "No state of a generator was recorded when it was made: it may have been loaded, copied, or"
    " made in another process."
)
_STATES_AGREE = mark(
    "The default generators were in the same state when it was made, so none of them made the"
    " difference."
)
_LEFT_OVER = mark(
    "It holds values that are not finite, or huge or tiny as left-over memory often is."
)
_MEMORY = "uninitialised-memory"
_NOT_FILLED = "makes a tensor without filling it"


def files(look: Look) -> Iterator[Suspect]:
    """State that a run left, or other inputs."""
    left = look.check.state_left
    if isinstance(look.rung.evidence, GivenOtherwise):
        yield from of_given(look)
    elif left:
        said = form(
            len(left),
            "The later run read it before it wrote there itself.",
            "The later run read them before it wrote there itself.",
        )
        yield Suspect(
            name="state-left",
            shown=tuple(Recorded(kind="file left by run 1", of=path) for path in left),
            evidence=(said,),
            source=look.line_at(_reader(look, left[0])),
        )


def _reader(look: Look, path: str) -> str:
    """Return the user's line in which a later run first opened what run 1 left; "" where it was not
    seen.
    """
    reads = (run.first_reads.get(path) for run in look.check.runs[1:])
    return next((read.line for read in reads if read is not None), "")


def hyper_parameters(look: Look) -> Iterator[Suspect]:
    """Yield values that are computed or drawn; or an update that only one run makes."""
    if look.rung.another_path:
        yield from other_path(look)
        return
    if look.shown(HyperParameterDiffers).other_weights:
        yield from origins(look)
    clock = look.hint("clock", "entropy")
    shown = look.recorded("value differs")
    drifting = by_hint("drifting-hyper-parameter", clock, "reads the clock or the system", shown)
    if clock is None:
        yield from if_hinted("random-hyper-parameter", look.hint("draw"), "draws a number")
        measured = look.hint("elapsed")
        what = mark("measures how long something takes, and uses the number")
        drifting = by_hint("drifting-hyper-parameter", measured, what, shown)
    yield drifting


def weights(look: Look) -> Iterator[Suspect]:
    """Yield the causes of weights that differ, by the states of the generators when the weight
    was made.
    """
    shown = look.shown(WeightsDiffer)
    sizes = other_sizes(look.rung.measured.shapes)
    if sizes:
        yield from _another_model(look, sizes)
        return
    if shown.missing_from is not None:
        said = tr(
            "{checkpoint} did not hold it.", checkpoint=capital(checkpoint(shown.missing_from))
        )
        yield Suspect(
            name="partial-checkpoint", shown=look.recorded("key missing"), evidence=(said,)
        )
    if shown.loaded is not None:
        yield from _loaded_otherwise(look, shown.loaded)
        return
    seeded = {fact.kind for fact in look.generator_facts()} - {"state differs"}
    if shown.filled_in_other_order and seeded <= SEEDED_EQUALLY:
        yield from origins(look)
        said = tr("The weights are filled one after the other, in another order in each run.")
        yield Suspect(
            name="different-path",
            shown=look.recorded("path differs"),
            evidence=(said,),
            source=look.rung.source,
        )
    elif shown.generators.drawn:
        if look.rung.measured.like_left_over_memory:
            # no initialiser draws such numbers, whatever else drew from the generator
            yield by_hint(_MEMORY, look.hint("memory"), _NOT_FILLED, said=(_LEFT_OVER,))
        yield from by_seeds(look, unseeded="unseeded-weights", late="seed-after-model")
    elif shown.states_known:
        yield from _unfilled(look)
    else:
        yield from _without_states(look)


def _another_model(look: Look, sizes: str) -> Iterator[Suspect]:
    """Yield weights of another size: what says how large the model is, is not the same in each
    run.
    """
    said = tr("The weights {sizes}: the number that says how many there are differs.", sizes=sizes)
    yield by_hint("random-hyper-parameter", look.hint("draw"), "draws a number", said=(said,))
    yield by_hint(
        "drifting-hyper-parameter",
        look.hint("clock", "entropy"),
        "reads the clock or the system",
        said=(said,),
    )


def _loaded_otherwise(look: Look, loaded: Loaded) -> Iterator[Suspect]:
    """A file with weights holds others in each run: each run drew them before it wrote it, or
    somebody gave the runs other files.
    """
    file, source = loaded.file, look.line_at(loaded.line)
    if made_by_each_run(look.check, file):
        said = tr(
            "Each run writes {file} before it loads it; what writes it may draw the weights"
            " without a seed.",
            file=code(file),
        )
        yield Suspect(
            name="unseeded-weights",
            evidence=(said,),
            source=source,
            fix=_in_what_writes(look, file),
        )
        return
    said = tr("{file} did not hold the same in both runs when it was loaded.", file=code(file))
    shown = (Recorded(kind="contents differ", of=file),)
    yield Suspect(name="changing-input", shown=shown, evidence=(said,), source=source)
    wrote = tr("What wrote {file} may have drawn them without a seed.", file=code(file))
    yield Suspect(name="unseeded-weights", evidence=(wrote,), fix=_in_what_writes(look, file))


def _in_what_writes(look: Look, file: str) -> str:
    """Return the seeds of the framework, and where they belong: a seed in the process that loads
    the file changes nothing in it.
    """
    seeds = entry("unseeded-weights").fix_for(look.frameworks)
    return f"# in the program that writes {file}:\n{seeds}"


def _unfilled(look: Look) -> Iterator[Suspect]:
    """Yield the generators stood the same: nobody filled the weight, or something private did."""
    here = look.code.on(look.rung.source, "memory", "entropy", "clock")
    odd = look.rung.measured.like_left_over_memory
    said: tuple[str, ...] = (_STATES_AGREE,)
    if odd:
        said = (_STATES_AGREE, _LEFT_OVER)
    shown = look.recorded("memory not filled")
    if here is not None and here.kind == "memory":
        yield by_hint(_MEMORY, here, _NOT_FILLED, shown, said)
        return
    private = here or look.hint("entropy")
    if odd:
        yield Suspect(name=_MEMORY, shown=shown, evidence=said)
        yield from if_hinted("private-initialiser", private, _SYSTEM)
        return
    yield from unseeded("unseeded-weights", look.unseeded_draw())
    own = by_hint("private-initialiser", private, _SYSTEM)
    unfilled = Suspect(name=_MEMORY, evidence=said)
    # a line that makes the very weight says more than one that stands anywhere
    if here is not None:
        yield from (own, *origins(look), unfilled)
    else:
        yield from (*origins(look), unfilled, own)


def _drawn_too_early(look: Look, early: Mapping[str, str]) -> Iterator[Suspect]:
    """Yield weights of which no state is known, and a generator that was seeded only after
    something had drawn from it.
    """
    said, shown = drawn_early(early), drawn_before(early)
    made = look.code.assigned(look.rung.place or "")
    yield Suspect(
        name="seed-after-model", shown=shown, evidence=said, source=made or look.rung.source
    )
    yield by_hint("private-initialiser", look.hint("entropy"), PRIVATE)


def _without_states(look: Look) -> Iterator[Suspect]:
    """Yield weights that were made where no generator was looked at: loaded, copied, or made in
    another process.
    """
    system = look.hint("entropy", "clock")
    shown = look.shown(WeightsDiffer)
    if shown.drawn_before_seed:
        yield from _drawn_too_early(look, shown.drawn_before_seed)
        return
    if shown.generators.seeded:
        own = by_hint("private-initialiser", system, _SYSTEM)
        drawn = Suspect(name="unseeded-weights", evidence=(_NO_STATE,), source=look.rung.source)
        yield from (own, drawn) if system else (drawn, own)
        return
    if "jax" in look.frameworks and system:
        yield by_hint("clock-seed", system, "reads the system or the clock")
        return
    yield Suspect(
        name="unseeded-weights", evidence=(_NO_STATE, tr("Nothing seeded a generator before it."))
    )
    yield from if_hinted("private-initialiser", system, _SYSTEM)
