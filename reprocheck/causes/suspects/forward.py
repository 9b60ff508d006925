"""The forward pass and the loss."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reprocheck.causes.evidence import Recorded
from reprocheck.causes.suspects.data import origins
from reprocheck.causes.suspects.generators import by_seeds
from reprocheck.causes.suspects.look import DRAWS, PRIVATE, Look, Suspect, by_hint, called, of_hint
from reprocheck.causes.suspects.path import by_clock, other_path
from reprocheck.model.evidence import InputsDiffer, LossDiffers, class_of

_DRAWS = re.compile(
    r"aten\.(rand|randn|randint|randperm|bernoulli|normal|uniform|exponential|multinomial|native_dropout)(_like|_)?\."
)
_FEEDS = ("private", "entropy", "memory")
"""Hints that explain what they feed."""
_DRAWING = re.compile(
    r"drop(out|path|block)|stochasticdepth|random|noise|rrelu|gumbel", re.IGNORECASE
)


def forward(look: Look) -> Iterator[Suspect]:
    """A module or the loss: culprit or victim, a private draw or another order of additions."""
    operator = look.rung.operator
    if look.rung.another_path:
        yield other_path(look)
    elif given := look.given_generator():
        yield from _seeded_by_clock(look)
        yield by_hint("private-draw", look.hint("entropy"), PRIVATE, given)
    elif _is_given_otherwise(look):
        yield from _unrecorded(look)
    elif look.rung.generators.drawn:
        yield from by_seeds(look, unseeded="unseeded-layer")
    elif _draws_unseen(look):
        said = (
            f"{class_of(look.rung.evidence)} draws random numbers, and its kernel shows no state."
        )
        yield Suspect(name="unseeded-layer", evidence=(said,))
    elif operator is not None and operator.reads_unfilled:
        memory = look.hint("memory")
        yield Suspect(
            name="uninitialised-memory",
            shown=look.recorded("memory not filled"),
            evidence=of_hint(memory, "makes a tensor without filling it"),
            calls=called(memory),
        )
    elif _operator_is_victim(look) and (threads := look.hint("threads")):
        yield by_hint("threads-share-weights", threads, "runs beside the training")
        yield from _unrecorded(look)
    elif _from_elsewhere(look):
        yield from _unrecorded(look)
    elif look.rung.size == "rounding" or _kernel(look):
        yield from noisy(look, "noisy-forward-kernel", backward=False)
    else:
        yield from _gross(look)


def _seeded_by_clock(look: Look) -> Iterator[Suspect]:
    """A clock that feeds what differs: it seeds the generator that is drawn from there, or makes
    the values.
    """
    if clock := look.feeding("clock"):
        yield by_hint(
            "clock-seed", clock, "reads the clock, and the value that differs is computed from it"
        )


def _from_elsewhere(look: Look) -> bool:
    """Whether an operator is given something else that no operator made, or the loss is all that
    was recorded, and no line says a draw.
    """
    victim = _operator_is_victim(look)
    if victim and look.feeding(*_FEEDS, "clock"):
        return True
    alone = look.ladder.rung("forward").status == "not_recorded" and not look.operators
    return (victim or alone) and not look.hint("entropy")


def _is_given_otherwise(look: Look) -> bool:
    """Whether a module, or the loss, is given something else that no recorded producer made."""
    evidence = look.rung.evidence
    if isinstance(evidence, LossDiffers):
        return evidence.only_labels
    return isinstance(evidence, InputsDiffer)


def _operator_is_victim(look: Look) -> bool:
    return look.rung.operator is not None and look.rung.operator.inputs_differ


def _draws_unseen(look: Look) -> bool:
    """A layer that draws by its name, in a framework whose generators cannot be read, unless the
    user's own draws from elsewhere.
    """
    name = class_of(look.rung.evidence)
    own = look.hint("entropy") is not None and look.code.defines(name)
    return "torch" not in look.frameworks and bool(_DRAWING.search(name)) and not own


def _kernel(look: Look) -> bool:
    """Whether level `op` shows an operator that draws nothing, has equal inputs and another output:
    its kernel makes the difference.
    """
    operator = look.rung.operator
    if operator is None or operator.inputs_differ:
        return False
    return operator.name.startswith("aten.") and not _DRAWS.match(operator.name)


def _gross(look: Look) -> Iterator[Suspect]:
    private, memory = look.hint("entropy"), look.hint("memory")
    odd = look.rung.measured.like_left_over_memory
    unfilled = by_hint("uninitialised-memory", memory, "makes a tensor without filling it")
    if odd and memory:
        yield unfilled
    yield from _seeded_by_clock(look)
    drawing = [name for name in look.operators if _DRAWS.match(name)][:1]
    said = tuple(
        f"`{name}` draws random numbers, and the default generators agree." for name in drawing
    )
    shown = tuple(Recorded(kind="private generator given", of=name) for name in drawing)
    yield by_hint("private-draw", private, PRIVATE, shown, said)
    if listed := look.listed(backward=False):
        yield Suspect(
            name="noisy-forward-kernel",
            evidence=tuple(operator.sentence for operator in listed[:3]),
        )
    if memory and not odd:
        yield unfilled


def noisy(look: Look, name: str, *, backward: bool) -> Iterator[Suspect]:
    """A rounding-level difference from equal inputs: the kernel, and what is known of it."""
    listed = tuple(operator.sentence for operator in look.listed(backward=backward)[:3])
    rounding = (
        "From equal inputs the result differs by rounding alone, as another order of additions"
        " makes it."
    )
    kernel = "From equal inputs an operator that draws no numbers gives another result."
    said = (rounding if look.rung.size == "rounding" else kernel, *listed)
    shown = look.recorded("operation differs")
    if look.device == "npu":
        yield Suspect(name="ascend-kernel", shown=shown, evidence=said)
        yield Suspect(name=name)
    elif "jax" in look.frameworks and look.device == "cuda":
        yield Suspect(name="xla-kernels", shown=shown, evidence=said)
    else:
        yield Suspect(name=name, shown=shown, evidence=said)


def _unrecorded(look: Look) -> Iterator[Suspect]:
    """Other inputs, and no recorded producer that differs."""
    feeding = look.feeding(*_FEEDS)
    if feeding and feeding.kind == "memory":
        yield by_hint(
            "uninitialised-memory",
            feeding,
            "makes a tensor without filling it, and the value that differs is computed from it",
        )
    elif feeding:
        yield by_hint("private-draw", feeding, DRAWS)
    found = list(origins(look))
    yield from found
    private, memory = look.hint("entropy"), look.hint("memory")
    clock = look.feeding("clock")
    yield Suspect(
        name="unrecorded-input",
        shown=look.recorded("no producer differs"),
        evidence=of_hint(clock, "reads the clock, and the value that differs is computed from it"),
        calls=called(clock),
    )
    yield from by_clock(look.code, near=look.rung.source)
    if (
        not found
        and not look.hash_is_fixed
        and (look.rung.measured.dtype or "int").startswith(("int", "uint"))
    ):
        said = (
            "What differs are whole numbers, as labels and token ids are; string hashes were not"
            " fixed (PYTHONHASHSEED)."
        )
        yield Suspect(name="hash-order", evidence=(said,))
    if private:
        yield by_hint("private-draw", private, PRIVATE)
    if memory:
        yield by_hint("uninitialised-memory", memory, "makes a tensor without filling it")
