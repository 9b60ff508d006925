"""Suspects for the forward pass and the loss."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from reprocheck.causes.evidence import Recorded
from reprocheck.causes.suspects.data import origins
from reprocheck.causes.suspects.generators import by_seeds
from reprocheck.causes.suspects.inspection import (
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
from reprocheck.model.evidence import InputsDiffer, LossDiffers, class_of
from reprocheck.model.statements.causes import Circumstance, OperationThere

_DRAWS = re.compile(
    r"aten\.(rand|randn|randint|randperm|bernoulli|normal|uniform|exponential|multinomial|native_dropout)(_like|_)?\."
)
_FEEDS = ("private", "entropy", "memory")
"""Hints that explain what they feed."""
_DRAWING = re.compile(
    r"drop(out|path|block)|stochasticdepth|random|noise|rrelu|gumbel", re.IGNORECASE
)


def forward(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for a differing module or loss: the first case of the table that holds."""
    yield from of_first_case(_CASES, look)


def _own_generator(look: Look) -> Iterator[Suspect]:
    """Yield the suspects if the first differing operator was given a generator of its own."""
    yield from _seeded_by_clock(look)
    shown = look.given_generator()
    yield by_hint("private-draw", look.hint("entropy"), "a generator or a draw", shown)


def _layer_draws_unseen(look: Look) -> Iterator[Suspect]:
    drawing = class_of(look.rung.evidence)
    draws = OperationThere(name=drawing, kind="draws unseen")
    yield Suspect(name="unseeded-layer", statements=(draws,))


def _left_unfilled(look: Look) -> Iterator[Suspect]:
    """Yield the suspect that the operator reads uninitialized memory."""
    shown = look.recorded("memory not filled")
    found = by_hint("uninitialised-memory", look.hint("memory"), "an unfilled tensor", shown)
    # the line may make any other tensor: the one of the rung stays
    yield replace(found, source=None)


def _threads_beside(look: Look) -> Iterator[Suspect]:
    yield by_hint("threads-share-weights", look.hint("threads"), "a function beside the training")
    yield from _unrecorded(look)


def _seeded_by_clock(look: Look) -> Iterator[Suspect]:
    """Yield a clock that feeds what differs, as a seed or as a value."""
    yield from if_hinted("clock-seed", look.feeding("clock"), "the clock that feeds")


def _from_elsewhere(look: Look) -> bool:
    """Return whether nothing recorded made the input of the first differing operator.

    Also true if only the loss was recorded; false if a line draws from the system.
    """
    victim = look.operator_is_victim
    if victim and look.feeding(*_FEEDS, "clock"):
        return True
    alone = look.ladder.rung("forward").status == "not_recorded" and not look.operators
    return (victim or alone) and not look.hint("entropy")


def _draws_unseen(look: Look) -> bool:
    """Return whether a layer draws by its name, in a framework whose generators cannot be read.

    False for a class of the user's own if a line draws from a generator of its own.
    """
    name = class_of(look.rung.evidence)
    own = look.hint("entropy") is not None and look.code.defines(name)
    return "torch" not in look.frameworks and bool(_DRAWING.search(name)) and not own


def _is_noise(look: Look) -> bool:
    """Return whether the kernel itself makes the difference.

    That is so if the difference is of rounding level, or if an operator that draws nothing gives
    another output for equal inputs.
    """
    if look.rung.size == "rounding":
        return True
    operator = look.rung.operator
    if operator is None or operator.inputs_differ:
        return False
    return operator.name.startswith("aten.") and not _DRAWS.match(operator.name)


def _gross(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for a gross difference from equal inputs.

    An uninitialized tensor comes first if the values look like left-over memory.
    """
    memory = if_hinted("uninitialised-memory", look.hint("memory"), "an unfilled tensor")
    private = look.hint("entropy")
    own_draw = by_hint("private-draw", private, "a generator or a draw")
    drawing = next(filter(_DRAWS.match, look.operators), None)
    if drawing is not None:
        # random numbers that no default generator made
        draws = OperationThere(name=drawing, kind="draws by itself")
        shown = Recorded(kind="private generator given", of=drawing)
        own_draw = by_hint("private-draw", private, "a generator or a draw", (shown,), (draws,))
    others = [*_seeded_by_clock(look), own_draw]
    listed = look.listed(backward=False)
    if listed:
        others.append(Suspect(name="noisy-forward-kernel", statements=listed))
    if look.rung.measured.like_left_over_memory:
        yield from (*memory, *others)
    else:
        yield from (*others, *memory)


def noisy(look: Look, name: str, *, backward: bool) -> Iterator[Suspect]:
    """Yield the kernel as the suspect for a rounding-level difference from equal inputs."""
    agreeing = Circumstance(kind="inputs agree, no draw")
    if look.rung.size == "rounding":
        agreeing = Circumstance(kind="inputs agree, rounding differs")
    statements = (agreeing, *look.listed(backward=backward))
    shown = look.recorded("operation differs")
    if look.device == "npu":
        yield Suspect(name="ascend-kernel", shown=shown, statements=statements)
        yield Suspect(name=name)
    elif "jax" in look.frameworks and look.device == "cuda":
        yield Suspect(name="xla-kernels", shown=shown, statements=statements)
    else:
        yield Suspect(name=name, shown=shown, statements=statements)


def _unrecorded(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for inputs that differ, while all recorded steps that make them agree."""
    feeding = look.feeding(*_FEEDS)
    if feeding is not None and feeding.kind == "memory":
        yield by_hint("uninitialised-memory", feeding, "an unfilled tensor that feeds")
    else:
        yield from if_hinted("private-draw", feeding, "a draw that feeds")
    orders = list(origins(look))
    yield from orders
    clock = look.feeding("clock")
    yield Suspect(
        name="unrecorded-input",
        shown=look.recorded("no producer differs"),
        statements=of_hint(clock, "the clock that feeds"),
        calls=called(clock),
    )
    yield from by_clock(look.code, near=look.rung.source)
    dtype = look.rung.measured.dtype
    may_be_whole = not dtype or dtype.startswith(("int", "uint"))
    if not orders and not look.hash_is_fixed and may_be_whole:
        whole = Circumstance(kind="whole numbers differ")
        yield Suspect(name="hash-order", statements=(whole,))
    yield from if_hinted("private-draw", look.hint("entropy"), "a generator or a draw")
    yield from if_hinted("uninitialised-memory", look.hint("memory"), "an unfilled tensor")


def _is_given_otherwise(look: Look) -> bool:
    """Return whether a module or the loss is given other inputs that no recorded step made."""
    evidence = look.rung.evidence
    if isinstance(evidence, LossDiffers):
        return evidence.only_labels
    return isinstance(evidence, InputsDiffer)


_CASES = (
    Case(takes_another_path, other_path),
    Case(Look.given_generator, _own_generator),
    Case(_is_given_otherwise, _unrecorded),
    # it drew from a generator that stood otherwise
    Case(lambda look: look.rung.generators.drawn, partial(by_seeds, unseeded="unseeded-layer")),
    Case(_draws_unseen, _layer_draws_unseen),
    Case(
        lambda look: look.rung.operator is not None and look.rung.operator.reads_unfilled,
        _left_unfilled,
    ),
    # something else is given to an operator, and threads may have made it
    Case(lambda look: look.operator_is_victim and look.hint("threads"), _threads_beside),
    Case(_from_elsewhere, _unrecorded),
    Case(_is_noise, partial(noisy, name="noisy-forward-kernel", backward=False)),
    Case(otherwise, _gross),
)
"""What a difference of a module or of the loss may be; the first that holds counts."""
