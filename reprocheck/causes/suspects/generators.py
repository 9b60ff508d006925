"""Generators whose states differ, told apart by the seeds that the script set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reprocheck.causes.evidence import SEEDED_EQUALLY, Recorded
from reprocheck.causes.suspects.look import SHUFFLES, Look, Suspect, of_hint
from reprocheck.ladder import words
from reprocheck.ladder.batches import CONTENT, ORDER
from reprocheck.model import Rung
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
    drawn = look.names("generators")
    shown = look.generator_facts()
    kinds = {fact.kind for fact in shown}
    if "seeded unequally" in kinds or "seeded by the system" in kinds:
        yield from _other_seed(look, unseeded, shown)
    elif kinds & SEEDED_EQUALLY and "never seeded" not in kinds:
        said = _moved(look, drawn)
        yield Suspect(name="shifted-stream", shown=shown, evidence=(said,), source=look.seed_line())
    else:
        yield from _never_seeded(look, unseeded, late, shown)
    if look.ranks > 1:
        yield Suspect(name="seed-per-process", evidence=(f"The run has {look.ranks} ranks.",))


def _moved(look: Look, names: Sequence[str]) -> str:
    """What was recorded of generators that were seeded equally, and stand otherwise."""
    who = capital(words.generators(names) if names else "its generator")
    if look.names("keys"):
        return (
            f"{who} was made from the same number in both runs, and is another key when it is drawn"
            " from."
        )
    if len(names) > 1:
        return (
            f"{who} were seeded with the same numbers in both runs, and stand elsewhere when they"
            " are drawn from."
        )
    return (
        f"{who} was seeded with the same number in both runs, and stands elsewhere when it is drawn"
        " from."
    )


def _never_seeded(
    look: Look, unseeded: str, late: str, shown: tuple[Recorded, ...]
) -> Iterator[Suspect]:
    """Nothing seeded a generator before it was drawn from; `late` is the entry for one that was
    seeded afterwards.
    """
    drawn = look.names("generators")
    said = (
        f"Nothing seeded {' and '.join(drawn)} before the first draw."
        if drawn
        else "No seed was recorded before the first draw."
    )
    later = look.mapping("seeded_later")
    if late and later:
        yield Suspect(
            name=late, shown=shown, evidence=(said, *_afterwards(later)), source=look.rung.source
        )
    draw = look.draw_from(drawn) if look.rung.source is None else None
    yield Suspect(
        name=unseeded,
        shown=() if late and later else shown,
        evidence=(said, *of_hint(draw, "draws from it")),
        source=draw.source if draw else look.rung.source,
        fix=_seeding(look, drawn),
    )


def _seeding(look: Look, drawn: Sequence[str]) -> str:
    """What seeds these generators, if the framework's own fix does not; empty where it does."""
    reached = _SEEDED_BY.get(look.frameworks[0], frozenset()) if look.frameworks else frozenset()
    if not drawn or not set(drawn) <= set(_SEED) or set(drawn) <= reached:
        return ""
    return "\n".join(_SEED[name] for name in drawn)


def _afterwards(later: Mapping[str, object]) -> tuple[str, ...]:
    """Who seeded generators after they had been drawn from, and with which number."""
    known = {name: one for name, one in later.items() if isinstance(one, Mapping)}
    return tuple(
        f"{capital(str(one['who']))} seeds {name} afterwards, with {one['seed']}."
        for name, one in known.items()
    )


def _other_seed(look: Look, unseeded: str, shown: tuple[Recorded, ...]) -> Iterator[Suspect]:
    """`torch.seed()` and its like seed from the operating system: as good as unseeded.

    A number that the script gives is a seed.
    """
    folded = look.names("folded")
    said = tuple(
        f"{capital(words.generators([name]))}"
        f" {'had folded in' if name in folded else 'was seeded with'} {both[0]} in run 1 and"
        f" {both[1]} in run 2."
        for name, both in look.mapping("seeds").items()
        if isinstance(both, list | tuple) and len(both) == 2
    )
    by_system = any(fact.kind == "seeded by the system" for fact in shown)
    yield Suspect(
        name=unseeded if by_system else "clock-seed",
        shown=shown,
        evidence=said,
        source=look.seed_line(),
    )


def _made_of(look: Look, batch: Rung) -> str:
    """What the script drew before a loader handed it out: which samples a subset takes, their
    order, or anything else.
    """
    drawn = look.names("generators")
    draw = look.draw_from(drawn)
    splits = draw is None and "numpy" in drawn and look.hint("split") is not None
    if splits or batch.facts.get("subset"):
        return "unseeded-split"
    shuffled = batch.facts.get("order") == ORDER or (
        draw is not None and draw.name.rpartition(".")[2] in SHUFFLES
    )
    return "unseeded-shuffle" if shuffled else "unseeded-draw"


def _drawn_by_loader(look: Look, batch: Rung) -> str:
    """What a loader drew: the order of its samples, or what they hold."""
    order = batch.facts.get("order")
    if order == CONTENT:
        return "worker-seed" if batch.facts.get("worker") is not None else "unseeded-augmentation"
    if order == ORDER or batch.facts.get("by_indices") or look.fact("kind") == "epoch":
        return "unseeded-shuffle"
    return (
        "unseeded-shuffle"
        if look.draws_an_order(look.names("generators"))
        else "unseeded-augmentation"
    )


def generators(look: Look) -> Iterator[Suspect]:
    """A module or a loader draws from a generator whose state differs."""
    batch = look.ladder.rung("batch")
    if look.fact("outside"):
        yield from by_seeds(
            look,
            unseeded=(
                _made_of(look, batch)
                if look.fact("kind") in ("batch", "epoch")
                else "unseeded-draw"
            ),
        )
        return
    if look.fact("kind") == "call" and not look.fact("loader"):
        yield from by_seeds(look, unseeded="unseeded-layer")
        return
    # the loader draws without need of it: what differs is made by the next that draws
    if batch.status == "equal":
        yield from by_seeds(look, unseeded="unseeded-layer")
        return
    order = batch.facts.get("order")
    # nothing shows that samples were put into another order
    if batch.facts.get("plain") and order not in (ORDER, CONTENT):
        yield from by_seeds(look, unseeded=_made_of(look, batch))
        return
    yield from by_seeds(look, unseeded=_drawn_by_loader(look, batch))
    never = any(fact.kind == "never seeded" for fact in look.generator_facts())
    if never and order not in (ORDER, CONTENT):
        yield Suspect(name="unseeded-augmentation")
