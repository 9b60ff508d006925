"""Suspects for generators whose states differ, told apart by the seeds that the script set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reprocheck.causes.evidence import SEEDED_EQUALLY, Recorded
from reprocheck.causes.suspects.inspection import Look, Suspect, by_hint, draws_order
from reprocheck.fixes.advice import fixed_number
from reprocheck.fixes.seeds import BY_NAME
from reprocheck.model.evidence import BatchDiffers, StateDiffers
from reprocheck.model.statements.causes import (
    Ranks,
    SeededAfterwards,
    SeededEqually,
    SeededUnequally,
    Unseeded,
)

_OF_NO_FRAMEWORK = frozenset({"python", "numpy"})
"""Generators that are not the framework's own."""
_AT_THE_START = "  # at the start, before anything is drawn"
_SEEDED_BY = {"mindspore": frozenset({"numpy"}), "keras": frozenset({"python"})}
"""Generators that the seed of a framework reaches as well, since it draws from them itself: its own
fix is the one that suffices.
"""


def by_seeds(look: Look, *, unseeded: str, late: str = "") -> Iterator[Suspect]:
    """Yield the suspects for a generator whose state differs.

    Such a generator was never seeded, was seeded with another number, or was seeded equally and
    drawn from since.
    """
    shown = look.generator_facts()
    kinds = {fact.kind for fact in shown}
    if "seeded by the system" in kinds:
        # `torch.seed()` and its like seed from the operating system: as good as unseeded
        yield _seeded_otherwise(look, unseeded, shown)
    elif "seeded unequally" in kinds:
        # a number that the script gives is a seed
        yield _seeded_otherwise(look, "clock-seed", shown)
    elif "never seeded" in kinds or kinds.isdisjoint(SEEDED_EQUALLY):
        yield from _never_seeded(look, unseeded, late, shown)
    else:
        drawn = look.rung.generators
        key = any(one.key for one in drawn.drawn)
        moved = SeededEqually(generators=drawn.names, key=key)
        source = look.seed_line()
        yield Suspect(name="shifted-stream", shown=shown, statements=(moved,), source=source)
    if look.ranks > 1:
        yield Suspect(name="seed-per-process", statements=(Ranks(number=look.ranks),))


def _never_seeded(
    look: Look, unseeded: str, late: str, shown: tuple[Recorded, ...]
) -> Iterator[Suspect]:
    """Yield the suspects for a generator that was not seeded before a draw.

    `late` is the catalogue entry for a generator that was seeded afterwards.
    """
    drawn = look.rung.generators.names
    seedless = Unseeded(generators=drawn)
    later = tuple(
        SeededAfterwards(
            generator=one.name, by=one.later.by, line=one.later.line, seed=str(one.later.seed)
        )
        for one in look.rung.generators.drawn
        if one.later is not None
    )
    if late and later:
        statements = (seedless, *later)
        yield Suspect(name=late, shown=shown, statements=statements, source=look.rung.source)
        # one that was seeded, if only afterwards, is not shown to be unseeded
        shown = ()
    draw = None
    if look.rung.source is None:
        draw = look.draw_from(drawn)
    suspect = by_hint(unseeded, draw, "a draw from it", shown, (seedless,))
    fix, names = "", set(drawn)
    reached = _SEEDED_BY.get(look.framework, frozenset())
    if names <= _OF_NO_FRAMEWORK and not names <= reached:
        streams = [BY_NAME[name] for name in drawn]
        fix = "\n".join(f"import {one.module}\n\n{one.call}{_AT_THE_START}" for one in streams)
    yield replace(suspect, source=suspect.source or look.rung.source, fix=fix)


def _seeded_otherwise(look: Look, name: str, shown: tuple[Recorded, ...]) -> Suspect:
    """Return the suspect for a generator that was seeded with another number in each run."""
    drawn = look.rung.generators.drawn
    given = []
    for one in drawn:
        if one.seeds is not None:
            first, second = map(str, one.seeds)
            given.append(
                SeededUnequally(generator=one.name, seeds=(first, second), folded=one.folded)
            )
    taken = look.seed_line()
    made = look.code.seed_taken(taken)
    fix = "" if made == taken else fixed_number(made)
    return Suspect(name=name, shown=shown, statements=tuple(given), source=made, fix=fix)


def generators(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for a module or loader that draws from a generator whose state differs."""
    yield from by_seeds(look, unseeded=_of_draw(look, look.shown(StateDiffers)))


def _of_draw(look: Look, shown: StateDiffers) -> str:
    """Return the entry for a draw from an unseeded generator, by who draws and what is drawn."""
    rung = look.ladder.rung("batch")
    batch = BatchDiffers()
    if isinstance(rung.evidence, BatchDiffers):
        batch = rung.evidence
    if shown.outside:
        return _drawn_outside(look, shown, batch)
    # beside a batch that agrees, the loader draws without need of it: what differs is made by the
    # next that draws
    if shown.got == "call" or rung.status == "equal":
        return "unseeded-layer"
    if batch.samples == "other content":
        return "unseeded-augmentation" if batch.worker is None else "worker-seed"
    if not batch.by_loader and batch.samples != "other order":
        # nothing shows that samples were put into another order
        return _made_of(look, batch)
    known = batch.samples == "other order" or batch.by_indices or shown.got == "epoch"
    if known or look.draws_an_order(look.rung.generators.names):
        return "unseeded-shuffle"
    return "unseeded-augmentation"


def _drawn_outside(look: Look, shown: StateDiffers, batch: BatchDiffers) -> str:
    """Return the name of the entry for a draw by the script itself."""
    if shown.got in ("batch", "epoch"):
        return _made_of(look, batch)
    return "unseeded-draw"


def _made_of(look: Look, batch: BatchDiffers) -> str:
    """Return the entry for what the script drew before a loader handed it out.

    That is a subset, an order, or values.
    """
    if batch.subset:
        return "unseeded-split"
    drawn = look.rung.generators.names
    draw = look.draw_from(drawn)
    unseen = draw is None and "numpy" in drawn
    if unseen and look.hint("split") is not None:
        return "unseeded-split"
    shuffled = draw is not None and draws_order(draw)
    if batch.samples == "other order" or shuffled:
        return "unseeded-shuffle"
    return "unseeded-draw"
