"""The forward pass and the loss."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reprocheck.causes.evidence import Recorded
from reprocheck.causes.suspects.data import origins
from reprocheck.causes.suspects.generators import by_seeds
from reprocheck.causes.suspects.look import (
    DRAWS,
    PRIVATE,
    Case,
    Look,
    Suspect,
    by_hint,
    called,
    if_hinted,
    of_first_case,
    of_hint,
    otherwise,
    takes_another_path,
)
from reprocheck.causes.suspects.path import by_clock, other_path
from reprocheck.language import mark, tr
from reprocheck.model.evidence import InputsDiffer, LossDiffers, class_of

_DRAWS = re.compile(
    r"aten\.(rand|randn|randint|randperm|bernoulli|normal|uniform|exponential|multinomial|native_dropout)(_like|_)?\."
)
_FEEDS = ("private", "entropy", "memory")
"""Hints that explain what they feed."""
_DRAWING = re.compile(
    r"drop(out|path|block)|stochasticdepth|random|noise|rrelu|gumbel", re.IGNORECASE
)

_UNFILLED = mark("makes a tensor without filling it")
_FED_UNFILLED = mark(
    "makes a tensor without filling it, and the value that differs is computed from it"
)
_CLOCK = mark("reads the clock, and the value that differs is computed from it")
_HASHES = mark(
    "What differs are whole numbers, as labels and token ids are; string hashes were not fixed"
    " (PYTHONHASHSEED)."
)
_ROUNDING = mark(
    "From equal inputs the result differs by rounding alone, as another order of additions makes"
    " it."
)
_KERNEL = mark("From equal inputs an operator that draws no numbers gives another result.")


def forward(look: Look) -> Iterator[Suspect]:
    """Yield a module or the loss: culprit or victim, a private draw or another order of
    additions.
    """
    yield from of_first_case(_CASES, look)


def _own_generator(look: Look) -> Iterator[Suspect]:
    """Yield the operator that differs first was given a generator of its own."""
    yield from _seeded_by_clock(look)
    yield by_hint("private-draw", look.hint("entropy"), PRIVATE, look.given_generator())


def _layer_draws(look: Look) -> Iterator[Suspect]:
    yield from by_seeds(look, unseeded="unseeded-layer")


def _layer_draws_unseen(look: Look) -> Iterator[Suspect]:
    drawing = class_of(look.rung.evidence)
    said = tr("{drawing} draws random numbers, and its kernel shows no state.", drawing=drawing)
    yield Suspect(name="unseeded-layer", evidence=(said,))


def _left_unfilled(look: Look) -> Iterator[Suspect]:
    """Yield the operator reads memory that nothing filled."""
    shown = look.recorded("memory not filled")
    found = by_hint("uninitialised-memory", look.hint("memory"), _UNFILLED, shown)
    # the line may make any other tensor: the one of the rung stays
    yield replace(found, source=None)


def _threads_beside(look: Look) -> Iterator[Suspect]:
    yield by_hint("threads-share-weights", look.hint("threads"), "runs beside the training")
    yield from _unrecorded(look)


def _noise(look: Look) -> Iterator[Suspect]:
    yield from noisy(look, "noisy-forward-kernel", backward=False)


def _seeded_by_clock(look: Look) -> Iterator[Suspect]:
    """Yield a clock that feeds what differs: it seeds the generator that is drawn from there, or
    makes the values.
    """
    yield from if_hinted("clock-seed", look.feeding("clock"), _CLOCK)


def _drew(look: Look) -> bool:
    """Return whether it drew from a generator that stood otherwise."""
    return bool(look.rung.generators.drawn)


def _reads_unfilled(look: Look) -> bool:
    operator = look.rung.operator
    return operator is not None and operator.reads_unfilled


def _written_by_threads(look: Look) -> bool:
    """Return whether something else is given to an operator, and threads may have made it."""
    return look.operator_is_victim and look.hint("threads") is not None


def _from_elsewhere(look: Look) -> bool:
    """Return whether an operator is given something else that no operator made, or the loss is all
    that was recorded, and no line says a draw.
    """
    victim = look.operator_is_victim
    if victim and look.feeding(*_FEEDS, "clock"):
        return True
    alone = look.ladder.rung("forward").status == "not_recorded" and not look.operators
    return (victim or alone) and not look.hint("entropy")


def _is_given_otherwise(look: Look) -> bool:
    """Return whether a module, or the loss, is given something else that no recorded producer
    made.
    """
    evidence = look.rung.evidence
    if isinstance(evidence, LossDiffers):
        return evidence.only_labels
    return isinstance(evidence, InputsDiffer)


def _draws_unseen(look: Look) -> bool:
    """Return a layer that draws by its name, in a framework whose generators cannot be read, unless
    the user's own draws from elsewhere.
    """
    name = class_of(look.rung.evidence)
    own = look.hint("entropy") is not None and look.code.defines(name)
    return "torch" not in look.frameworks and bool(_DRAWING.search(name)) and not own


def _is_noise(look: Look) -> bool:
    """Return whether it differs by rounding, or level `op` shows an operator that draws nothing,
    has equal inputs and another output: its kernel makes the difference.
    """
    if look.rung.size == "rounding":
        return True
    operator = look.rung.operator
    if operator is None or operator.inputs_differ:
        return False
    return operator.name.startswith("aten.") and not _DRAWS.match(operator.name)


def _gross(look: Look) -> Iterator[Suspect]:
    """Yield a gross difference from equal inputs.

    A tensor that is left unfilled comes first where the values look like left-over memory.
    """
    memory = if_hinted("uninitialised-memory", look.hint("memory"), _UNFILLED)
    others = (*_seeded_by_clock(look), _own_draw(look), *_listed(look))
    if look.rung.measured.like_left_over_memory:
        yield from (*memory, *others)
    else:
        yield from (*others, *memory)


def _own_draw(look: Look) -> Suspect:
    """Random numbers that no default generator made."""
    private = look.hint("entropy")
    drawing = next(filter(_DRAWS.match, look.operators), None)
    if drawing is None:
        return by_hint("private-draw", private, PRIVATE)
    said = tr(
        "`{drawing}` draws random numbers, and the default generators agree.", drawing=drawing
    )
    shown = Recorded(kind="private generator given", of=drawing)
    return by_hint("private-draw", private, PRIVATE, (shown,), (said,))


def _listed(look: Look) -> Iterator[Suspect]:
    listed = look.listed(backward=False)
    if listed:
        yield Suspect(name="noisy-forward-kernel", evidence=listed)


def noisy(look: Look, name: str, *, backward: bool) -> Iterator[Suspect]:
    """Yield a rounding-level difference from equal inputs: the kernel, and what is known of it."""
    said = _KERNEL
    if look.rung.size == "rounding":
        said = _ROUNDING
    evidence = (said, *look.listed(backward=backward))
    shown = look.recorded("operation differs")
    if look.device == "npu":
        yield Suspect(name="ascend-kernel", shown=shown, evidence=evidence)
        yield Suspect(name=name)
    elif "jax" in look.frameworks and look.device == "cuda":
        yield Suspect(name="xla-kernels", shown=shown, evidence=evidence)
    else:
        yield Suspect(name=name, shown=shown, evidence=evidence)


def _unrecorded(look: Look) -> Iterator[Suspect]:
    """Other inputs, and no recorded producer that differs."""
    yield from _feeding(look)
    found = list(origins(look))
    yield from found
    clock = look.feeding("clock")
    yield Suspect(
        name="unrecorded-input",
        shown=look.recorded("no producer differs"),
        evidence=of_hint(clock, _CLOCK),
        calls=called(clock),
    )
    yield from by_clock(look.code, near=look.rung.source)
    if not found and not look.hash_is_fixed and _is_whole(look.rung.measured.dtype):
        yield Suspect(name="hash-order", evidence=(_HASHES,))
    yield from if_hinted("private-draw", look.hint("entropy"), PRIVATE)
    yield from if_hinted("uninitialised-memory", look.hint("memory"), _UNFILLED)


def _feeding(look: Look) -> tuple[Suspect, ...]:
    """Return the line that makes the value which differs."""
    feeding = look.feeding(*_FEEDS)
    if feeding is not None and feeding.kind == "memory":
        return if_hinted("uninitialised-memory", feeding, _FED_UNFILLED)
    return if_hinted("private-draw", feeding, DRAWS)


def _is_whole(dtype: str) -> bool:
    """Return whether values of that type are whole numbers, as far as the type is known."""
    return not dtype or dtype.startswith(("int", "uint"))


_CASES = (
    Case(takes_another_path, other_path),
    Case(Look.given_generator, _own_generator),
    Case(_is_given_otherwise, _unrecorded),
    Case(_drew, _layer_draws),
    Case(_draws_unseen, _layer_draws_unseen),
    Case(_reads_unfilled, _left_unfilled),
    Case(_written_by_threads, _threads_beside),
    Case(_from_elsewhere, _unrecorded),
    Case(_is_noise, _noise),
    Case(otherwise, _gross),
)
"""What a difference of a module or of the loss may be; the first that holds counts."""
