"""The backward pass, what becomes of gradients, and the update."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from reprocheck.causes.suspects.forward import noisy
from reprocheck.causes.suspects.look import Look, Suspect, by_hint, called, of_hint
from reprocheck.causes.suspects.path import other_path
from reprocheck.model.evidence import ChangedAfterBackward, ReducedDiffers, WeightWritten

_BACKWARDS: Mapping[str, re.Pattern[str]] = {
    "upsample-backward": re.compile(r"upsampl|interpolat|grid_?sampl", re.IGNORECASE),
    "attention-backward": re.compile(r"attention|flash", re.IGNORECASE),
    "extension-backward": re.compile(r"mamba|selective_?scan|ssm", re.IGNORECASE),
    "convolution-algorithm": re.compile(r"conv", re.IGNORECASE),
}
"""Entries for one kind of backward pass on an accelerator, by the names of operators, nodes and
classes.
"""


def gradient(look: Look) -> Iterator[Suspect]:
    """The first gradient that differs."""
    if look.rung.another_path:
        yield other_path(look)
    elif isinstance(look.rung.evidence, ChangedAfterBackward):
        yield from reduced(look)
    elif look.rung.size == "rounding":
        yield from _special(look)
        yield from noisy(look, "noisy-backward-kernel", backward=True)
    else:
        yield from _gross_gradient(look)


def _special(look: Look) -> Iterator[Suspect]:
    """The kinds of backward pass that accelerators are known for."""
    if look.device == "cpu":
        return
    for entry, pattern in _BACKWARDS.items():
        found = [name for name in look.operators if pattern.search(name)]
        if found and (entry != "convolution-algorithm" or look.device == "cuda"):
            benchmark = look.hint("benchmark") if entry == "convolution-algorithm" else None
            said = (f"{found[0]} lies where the difference begins.",)
            yield by_hint(
                entry,
                benchmark,
                "lets cuDNN choose by timing",
                look.recorded("operation differs"),
                said,
            )


def _gross_gradient(look: Look) -> Iterator[Suspect]:
    listed = tuple(operator.sentence for operator in look.listed(backward=True)[:3])
    private = look.hint("entropy")
    place = look.hint("custom backward", "hook")
    cancels = "Where large terms cancel, another order of additions shows as a gross difference."
    line = private or place
    given = look.given_generator()
    noise = Suspect(
        name="private-gradient-noise",
        shown=given,
        evidence=(
            *of_hint(place, "changes gradients"),
            *of_hint(private, "draws without a seed or from the system"),
        ),
        source=line.source if line else None,
        calls=called(place, private),
    )
    if listed and not private and not given:
        yield Suspect(
            name="noisy-backward-kernel",
            shown=look.recorded("operation differs"),
            evidence=(*listed, cancels),
        )
        yield noise
        return
    yield noise
    yield Suspect(name="noisy-backward-kernel", evidence=(*listed, cancels))


def reduced(look: Look) -> Iterator[Suspect]:
    """Between the backward pass and the update."""
    several = look.ranks > 1 and look.rung.rung == "reduced gradient"
    if several and look.rung.size == "rounding":
        shown = look.recorded("sum over ranks differs") if _agreed_before(look) else ()
        said = (
            f"Local gradients agree; {look.ranks} ranks add them up."
            if shown
            else f"{look.ranks} ranks add gradients up."
        )
        yield Suspect(name="collective-order", shown=shown, evidence=(said,))
        return
    shown = look.recorded("changed after the backward pass") if _agreed_before(look) else ()
    yield by_hint("gradient-changed", look.hint("entropy"), "draws a number", shown)
    if several:
        yield Suspect(name="collective-order", evidence=(f"The run has {look.ranks} ranks.",))


def _agreed_before(look: Look) -> bool:
    """Whether the gradient agreed in the backward pass of the rank."""
    evidence = look.rung.evidence
    if isinstance(evidence, ChangedAfterBackward):
        return evidence.agreed_before
    return isinstance(evidence, ReducedDiffers) and evidence.local_equal is True


def update(look: Look) -> Iterator[Suspect]:
    """The weights after an update."""
    private, threads = look.hint("entropy"), look.hint("threads")
    if isinstance(look.rung.evidence, WeightWritten):
        yield by_hint(
            "weights-written",
            private,
            "draws without a seed",
            look.recorded("written beside the optimizer"),
        )
    else:
        yield by_hint(
            "noisy-update", private, "draws without a seed", look.recorded("update differs")
        )
    if threads:
        yield by_hint("threads-share-weights", threads, "lets others write during the training")


def later(look: Look) -> Iterator[Suspect]:
    """After the iterations that were recorded in depth."""
    yield Suspect(name="late-drift", shown=look.recorded("differs later"))
    for name, kind in (("compile-cache", "compile"), ("threads-share-weights", "threads")):
        if found := look.hint(kind):
            yield by_hint(name, found, "may be what differs")
