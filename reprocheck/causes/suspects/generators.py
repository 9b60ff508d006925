"""Generators whose states differ, told apart by the seeds that the script set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reprocheck.causes.evidence import SEEDED_EQUALLY, Recorded
from reprocheck.causes.suspects.look import SHUFFLES, Look, Suspect, called, of_hint
from reprocheck.ladder import words
from reprocheck.model.evidence import BatchDiffers, StateDiffers
from reprocheck.model.letters import capital

_SEED: Mapping[str, str] = {
    "python": "import random\n\nrandom.seed(0)  # at the start, before anything is drawn",
    "numpy": "import numpy\n\nnumpy.random.seed(0)  # at the start, before anything is drawn",
}
"""What seeds a generator that is not the framework's own."""
_SEEDED_BY = {"mindspore": frozenset({"numpy"}), "keras": frozenset({"python"})}
"""Generators that the seed of a framework reaches as well, since it draws from them itself: its own
fix is the one that suffices.
"""


def by_seeds(look: Look, *, unseeded: str, late: str = "") -> Iterator[Suspect]:
    """A generator whose state differs: never seeded, seeded with another number, or seeded equally
    and moved since.
    """
    shown = look.generator_facts()
    kinds = {fact.kind for fact in shown}
    if "seeded unequally" in kinds or "seeded by the system" in kinds:
        yield from _other_seed(look, unseeded, shown)
    elif kinds & SEEDED_EQUALLY and "never seeded" not in kinds:
        said = _moved(look)
        yield Suspect(name="shifted-stream", shown=shown, evidence=(said,), source=look.seed_line())
    else:
        yield from _never_seeded(look, unseeded, late, shown)
    if look.ranks > 1:
        yield Suspect(name="seed-per-process", evidence=(f"The run has {look.ranks} ranks.",))


def _moved(look: Look) -> str:
    """What was recorded of generators that were seeded equally, and stand otherwise."""
    drawn = look.rung.generators.drawn
    names = look.rung.generators.names
    who = capital(words.generators(names))
    if any(one.key for one in drawn):
        return (
            f"{who} was made from the same number in both runs, and differs when it is drawn from."
        )
    if len(names) > 1:
        return (
            f"{who} were seeded with the same numbers in both runs, and their states differ when"
            " they are drawn from."
        )
    return (
        f"{who} was seeded with the same number in both runs, and its state differs when it is"
        " drawn from."
    )


def _never_seeded(
    look: Look, unseeded: str, late: str, shown: tuple[Recorded, ...]
) -> Iterator[Suspect]:
    """Nothing seeded a generator before it was drawn from; `late` is the entry for one that was
    seeded afterwards.
    """
    drawn = look.rung.generators.names
    said = (
        f"Nothing seeded {' and '.join(drawn)} before the first draw."
        if drawn
        else "No seed was recorded before the first draw."
    )
    later = _seeded_later(look) if late else ()
    if later:
        yield Suspect(name=late, shown=shown, evidence=(said, *later), source=look.rung.source)
    draw = look.draw_from(drawn) if look.rung.source is None else None
    yield Suspect(
        name=unseeded,
        shown=() if later else shown,
        evidence=(said, *of_hint(draw, "draws from it")),
        source=draw.source if draw else look.rung.source,
        calls=called(draw),
        fix=_seeding(look, drawn),
    )


def _seeding(look: Look, drawn: Sequence[str]) -> str:
    """What seeds these generators, if the framework's own fix does not; empty where it does."""
    reached = _SEEDED_BY.get(look.frameworks[0], frozenset()) if look.frameworks else frozenset()
    if not drawn or not set(drawn) <= set(_SEED) or set(drawn) <= reached:
        return ""
    return "\n".join(_SEED[name] for name in drawn)


def _seeded_later(look: Look) -> tuple[str, ...]:
    """Who seeded generators after they had been drawn from, and with which number."""
    return tuple(
        f"{capital(one.later.who)} seeds {one.name} afterwards, with {one.later.seed}."
        for one in look.rung.generators.drawn
        if one.later is not None
    )


def _other_seed(look: Look, unseeded: str, shown: tuple[Recorded, ...]) -> Iterator[Suspect]:
    """`torch.seed()` and its like seed from the operating system: as good as unseeded.

    A number that the script gives is a seed.
    """
    said = tuple(
        f"{capital(words.generators([one.name]))}"
        f" {'had folded in' if one.folded else 'was seeded with'} {one.seeds[0]} in run 1 and"
        f" {one.seeds[1]} in run 2."
        for one in look.rung.generators.drawn
        if one.seeds is not None
    )
    by_system = any(fact.kind == "seeded by the system" for fact in shown)
    yield Suspect(
        name=unseeded if by_system else "clock-seed",
        shown=shown,
        evidence=said,
        source=look.seed_line(),
    )


def _made_of(look: Look, batch: BatchDiffers) -> str:
    """What the script drew before a loader handed it out: which samples a subset takes, their
    order, or anything else.
    """
    drawn = look.rung.generators.names
    draw = look.draw_from(drawn)
    splits = draw is None and "numpy" in drawn and look.hint("split") is not None
    if splits or batch.subset:
        return "unseeded-split"
    shuffled = batch.samples == "other order" or (
        draw is not None and draw.name.rpartition(".")[2] in SHUFFLES
    )
    return "unseeded-shuffle" if shuffled else "unseeded-draw"


def _drawn_by_loader(look: Look, batch: BatchDiffers) -> str:
    """What a loader drew: the order of its samples, or what they hold."""
    if batch.samples == "other content":
        return "worker-seed" if batch.worker is not None else "unseeded-augmentation"
    known = batch.samples == "other order" or batch.by_indices
    if known or look.shown(StateDiffers).got == "epoch":
        return "unseeded-shuffle"
    shuffles = look.draws_an_order(look.rung.generators.names)
    return "unseeded-shuffle" if shuffles else "unseeded-augmentation"


def generators(look: Look) -> Iterator[Suspect]:
    """A module or a loader draws from a generator whose state differs."""
    shown = look.shown(StateDiffers)
    rung = look.ladder.rung("batch")
    batch = rung.evidence if isinstance(rung.evidence, BatchDiffers) else BatchDiffers()
    if shown.outside:
        of_data = shown.got in ("batch", "epoch")
        unseeded = _made_of(look, batch) if of_data else "unseeded-draw"
        yield from by_seeds(look, unseeded=unseeded)
        return
    # beside a batch that agrees, the loader draws without need of it: what differs is made by the
    # next that draws
    if shown.got == "call" or rung.status == "equal":
        yield from by_seeds(look, unseeded="unseeded-layer")
        return
    ordered = batch.samples in ("other order", "other content")
    # nothing shows that samples were put into another order
    if not batch.by_loader and not ordered:
        yield from by_seeds(look, unseeded=_made_of(look, batch))
        return
    yield from by_seeds(look, unseeded=_drawn_by_loader(look, batch))
    never = any(one.seeded == "never" for one in shown.generators.drawn)
    if never and not ordered:
        yield Suspect(name="unseeded-augmentation")
