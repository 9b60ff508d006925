"""The backward pass, what becomes of gradients, and the update."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from reprocheck.explain.suspects.forward import noisy
from reprocheck.explain.suspects.look import Look, Suspect, by_hint, of_hint

_BACKWARDS: Mapping[str, re.Pattern[str]] = {
    "upsample-backward": re.compile(r"upsampl|interpolat|grid_?sampl", re.IGNORECASE),
    "attention-backward": re.compile(r"attention|flash", re.IGNORECASE),
    "extension-backward": re.compile(r"mamba|selective_?scan|ssm", re.IGNORECASE),
    "convolution-algorithm": re.compile(r"conv", re.IGNORECASE),
}
"""Entries for one kind of backward pass on an accelerator, by the names of operators, nodes and classes."""


def gradient(look: Look) -> Iterator[Suspect]:
    """The first gradient that differs."""
    if look.fact("structural"):
        yield Suspect(name="different-path")
    elif look.fact("kind") == "reduced":
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
            yield by_hint(entry, benchmark, "lets cuDNN choose by timing", said=said)


def _gross_gradient(look: Look) -> Iterator[Suspect]:
    listed = tuple(operator.sentence for operator in look.listed(backward=True)[:3])
    private = look.hint("entropy")
    place = look.hint("custom backward", "hook")
    kernel = Suspect(
        name="noisy-backward-kernel",
        confidence="observed" if listed and not private else "suspected",
        evidence=(*listed, "Where large terms cancel, another order of additions shows as a gross difference."),
    )
    if kernel.confidence == "observed":
        yield kernel
    yield Suspect(
        name="private-gradient-noise",
        confidence="suspected" if kernel.confidence == "observed" else "observed",
        evidence=(*of_hint(place, "changes gradients"), *of_hint(private, "draws without a seed or from the system")),
        source=(private or place).source if (private or place) else None,  # type: ignore[union-attr]
    )
    if kernel.confidence != "observed":
        yield kernel


def reduced(look: Look) -> Iterator[Suspect]:
    """Between the backward pass and the update."""
    several = look.ranks > 1 and look.rung.rung == "reduced gradient"
    if several and look.rung.size == "rounding":
        yield Suspect(name="collective-order", evidence=(f"Local gradients agree; {look.ranks} ranks add them up.",))
        return
    yield by_hint("gradient-changed", look.hint("entropy"), "draws a number")
    if several:
        yield Suspect(name="collective-order", confidence="suspected", evidence=(f"The run has {look.ranks} ranks.",))


def update(look: Look) -> Iterator[Suspect]:
    """The weights after an update."""
    private, threads = look.hint("entropy"), look.hint("threads")
    yield by_hint("weights-written" if look.fact("written") else "noisy-update", private, "draws without a seed")
    if threads:
        yield by_hint("threads-share-weights", threads, "lets others write beside the training", "suspected")


def later(look: Look) -> Iterator[Suspect]:
    """After the iterations that were recorded in depth."""
    yield Suspect(name="late-drift")
    for name, kind in (("compile-cache", "compile"), ("threads-share-weights", "threads")):
        if found := look.hint(kind):
            yield by_hint(name, found, "may be what differs", "suspected")
