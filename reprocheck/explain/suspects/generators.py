"""Generators whose states differ, told apart by the seeds that the script set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from reprocheck.explain.batches import CONTENT, ORDER
from reprocheck.explain.suspects.look import Look, Suspect, capital, follows, line, of_hint
from reprocheck.model import Rung, SourceLine

_SEED: Mapping[str, str] = {
    "python": "import random\n\nrandom.seed(0)  # at the start, before anything is drawn",
    "numpy": "import numpy\n\nnumpy.random.seed(0)  # at the start, before anything is drawn",
}
"""What seeds a generator that is not the framework's own."""


_SHUFFLES = ("shuffle", "permutation", "sample")
"""Functions of `random` and `numpy.random` that draw an order."""


def by_seeds(look: Look, *, unseeded: str, late: str = "") -> Iterator[Suspect]:
    """A generator whose state differs: never seeded, seeded with another number, or seeded equally and moved since."""
    drawn = look.names("generators")
    names = " and ".join(drawn) or "its generator"
    seeds = look.fact("seeds")
    if isinstance(seeds, Mapping) and seeds:
        yield from _other_seed(look, unseeded, {str(name): value for name, value in seeds.items()})
    elif look.fact("seeds_equal") is True:
        said = f"{capital(names)} was seeded with the same number in both runs, and stands elsewhere when it is drawn from."
        yield Suspect(name="shifted-stream", evidence=(said,), source=_seed_line(look))
    elif look.fact("seeds_equal") is False and set(drawn) & set(look.names("seeded_by")):
        yield Suspect(name="clock-seed", evidence=(f"The script seeds {names} with another number in each run.",), source=_seed_line(look))
        yield Suspect(name=unseeded, confidence="suspected")
    else:
        seed = look.hint("seed") if late else None
        after = seed is not None and look.rung.source is not None and follows(seed.source, look.rung.source)
        if seed and after:
            yield Suspect(name=late, evidence=(line(seed, "seeds, below the line that draws"),), source=look.rung.source)
        said = f"Nothing seeded {names} before the first draw."
        draw = look.draw_from(drawn) if look.rung.source is None else None
        yield Suspect(
            name=unseeded,
            confidence="suspected" if after else "observed",
            evidence=(said, *of_hint(draw, "draws from it")),
            source=draw.source if draw else look.rung.source,
            fix="\n".join(_SEED[name] for name in drawn) if drawn and set(drawn) <= set(_SEED) else "",
        )
    if look.ranks > 1:
        yield Suspect(name="seed-per-process", confidence="suspected", evidence=(f"The run has {look.ranks} ranks.",))


def _other_seed(look: Look, unseeded: str, seeds: Mapping[str, object]) -> Iterator[Suspect]:
    """`torch.seed()` and its like seed from the operating system: as good as unseeded. A computed number is a seed of its own."""
    line = _seed_line(look)
    said = tuple(
        f"{capital(name)} was seeded with {both[0]} in run 1 and {both[1]} in run 2."
        for name, both in seeds.items()
        if isinstance(both, list | tuple) and len(both) == 2
    )
    bare = line is not None and re.search(r"\bseed\(\s*\)", line.text) is not None
    by_system = Suspect(name=unseeded, confidence="observed" if bare else "suspected", evidence=said, source=line)
    computed = Suspect(name="clock-seed", confidence="suspected" if bare else "observed", evidence=said, source=line)
    yield from (by_system, computed) if bare else (computed, by_system)


def _seed_line(look: Look) -> SourceLine | None:
    """The line that seeded, with its text."""
    file, _, line = str(look.fact("seed_line") or "").rpartition(":")
    return look.code.with_text(SourceLine(file=file, line=int(line))) if file and line.isdigit() else look.rung.source


def _made_of(look: Look, batch: Rung) -> str:
    """What the script drew before a loader handed it out: which samples a subset takes, their order, or anything else."""
    draw = look.draw_from(look.names("generators"))
    if batch.facts.get("subset"):
        return "unseeded-split"
    shuffled = batch.facts.get("order") == ORDER or (draw is not None and draw.name.rpartition(".")[2] in _SHUFFLES)
    return "unseeded-shuffle" if shuffled else "unseeded-draw"


def generators(look: Look) -> Iterator[Suspect]:
    """A module or a loader draws from a generator whose state differs."""
    batch = look.ladder.rung("batch")
    if look.fact("outside"):
        yield from by_seeds(look, unseeded=_made_of(look, batch) if look.fact("kind") in ("batch", "epoch") else "unseeded-draw")
        return
    if look.fact("kind") == "call" and not look.fact("loader"):
        yield from by_seeds(look, unseeded="unseeded-layer")
        return
    if batch.status == "equal":  # the loader draws without need of it: what differs is made by the next that draws
        yield from by_seeds(look, unseeded="unseeded-layer")
        return
    order, worker = batch.facts.get("order"), batch.facts.get("worker")
    name = "unseeded-shuffle" if order != CONTENT else "worker-seed" if worker is not None else "unseeded-augmentation"
    yield from by_seeds(look, unseeded=name)
    if order not in (ORDER, CONTENT):
        yield Suspect(name="unseeded-augmentation", confidence="suspected")
