"""Suspects for the backward pass, for changes of gradients after it, and for the update."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from reprocheck.causes.suspects.forward import noisy
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
from reprocheck.causes.suspects.path import other_path
from reprocheck.model.evidence import ChangedAfterBackward, ReducedDiffers, WeightWritten
from reprocheck.model.statements.causes import Circumstance, OperationThere, Ranks

_BACKWARDS: Mapping[str, re.Pattern[str]] = {
    "upsample-backward": re.compile(r"upsampl|interpolat|grid_?sampl", re.IGNORECASE),
    "attention-backward": re.compile(r"attention|flash", re.IGNORECASE),
    "extension-backward": re.compile(r"mamba|selective_?scan|ssm", re.IGNORECASE),
}
"""Entries for one kind of backward pass on an accelerator, by the names of operators, nodes and
classes.
"""
_OF_DEVICE: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "cpu": {},
    "cuda": {**_BACKWARDS, "convolution-algorithm": re.compile(r"conv", re.IGNORECASE)},
}
"""Those of a device, where they are not the same as for any other accelerator."""
_CHOSEN_BY = {"convolution-algorithm": ("benchmark",)}
"""Kinds of hints that speak for one of them."""


def gradient(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for the first gradient that differs."""
    yield from of_first_case(_CASES, look)


def _is_changed_afterwards(look: Look) -> bool:
    return isinstance(look.rung.evidence, ChangedAfterBackward)


def _is_rounding(look: Look) -> bool:
    return look.rung.size == "rounding"


def _rounding(look: Look) -> Iterator[Suspect]:
    """Yield the backward passes that are known to differ on accelerators, then other kernels."""
    for entry, pattern in _OF_DEVICE.get(look.device, _BACKWARDS).items():
        found = next(filter(pattern.search, look.operators), None)
        if found is None:
            continue
        chosen = look.hint(*_CHOSEN_BY.get(entry, ()))
        there = OperationThere(name=found, kind="there")
        shown = look.recorded("operation differs")
        yield by_hint(entry, chosen, "a choice by timing", shown, (there,))
    yield from noisy(look, "noisy-backward-kernel", backward=True)


def _gross(look: Look) -> Iterator[Suspect]:
    """Yield a private draw that changes gradients, and an operator in which large terms cancel.

    The operator is one of the lists.

    The operator comes first only if nothing indicates a draw.
    """
    listed = look.listed(backward=True)
    private = look.hint("entropy")
    given = look.given_generator()
    # noise that a hook adds to gradients: the line that draws says more than the hook itself
    place = look.hint("custom backward", "hook")
    statements = (
        *of_hint(place, "a change of gradients"),
        *of_hint(private, "a draw, seedless or of the system"),
    )
    noise = Suspect(name="private-gradient-noise", shown=given, statements=statements)
    line = private or place
    if line is not None:
        noise = replace(noise, source=line.source, calls=called(place, private))
    cancels = Circumstance(kind="large terms cancel")
    kernel = Suspect(name="noisy-backward-kernel", statements=(*listed, cancels))
    drawn = private is not None or given
    if drawn or not listed:
        yield from (noise, kernel)
        return
    yield replace(kernel, shown=look.recorded("operation differs"))
    yield noise


def reduced(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for a gradient that differs between the backward pass and the update."""
    several = look.ranks > 1 and look.rung.rung == "reduced gradient"
    evidence = look.rung.evidence
    agreed = isinstance(evidence, ReducedDiffers) and evidence.local_equal is True
    if isinstance(evidence, ChangedAfterBackward):
        agreed = evidence.agreed_before
    if several and look.rung.size == "rounding":
        # ranks add gradients up in another order; that is shown where each gave the same
        shown = look.recorded("sum over ranks differs") if agreed else ()
        ranks = Ranks(number=look.ranks, add="equal gradients" if agreed else "gradients")
        yield Suspect(name="collective-order", shown=shown, statements=(ranks,))
        return
    changed = by_hint("gradient-changed", look.hint("entropy"), "a draw")
    if agreed:
        changed = replace(changed, shown=look.recorded("changed after the backward pass"))
    yield changed
    if several:
        yield Suspect(name="collective-order", statements=(Ranks(number=look.ranks),))


def update(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for weights that differ after an update."""
    private = look.hint("entropy")
    if isinstance(look.rung.evidence, WeightWritten):
        written = look.recorded("written beside the optimizer")
        yield by_hint("weights-written", private, "a draw, seedless", written)
    else:
        shown = look.recorded("update differs")
        yield by_hint("noisy-update", private, "a draw, seedless", shown)
    threads = look.hint("threads")
    yield from if_hinted("threads-share-weights", threads, "a write of others")


def later(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for a difference after the last iteration that was recorded deeply."""
    yield Suspect(name="late-drift", shown=look.recorded("differs later"))
    yield from if_hinted("compile-cache", look.hint("compile"), "a possible difference")
    yield from if_hinted("threads-share-weights", look.hint("threads"), "a possible difference")


_CASES = (
    Case(takes_another_path, other_path),
    Case(_is_changed_afterwards, reduced),
    Case(_is_rounding, _rounding),
    Case(otherwise, _gross),
)
"""What a difference of a gradient may be; the first that holds counts."""
