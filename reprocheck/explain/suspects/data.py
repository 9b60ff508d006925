"""Batches that differ although the default generators agree, and the origins of what no recorded step has made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reprocheck.explain.batches import CONTENT, ORDER
from reprocheck.explain.suspects.look import PRIVATE, Look, Suspect, by_hint, capital, line, unseeded
from reprocheck.model import Confidence

ORIGINS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "hash-order": (("set order", "hash"), "the order of a set of strings, or a hash, decides here"),
    "directory-order": (("listing",), "files are used as the file system lists them"),
    "temporary-names": (("temporary",), "a random file name is made here"),
    "address-order": (("address",), "memory addresses decide an order here"),
    "arrival-order": (("arrival",), "what is ready first comes first here"),
    "unseeded-split": (("split",), "a split is drawn here without a seed of its own"),
}
"""Entry -> kinds of hints that speak for it, and what the line does. These show at inputs that no recorded step has made."""


def batch(look: Look) -> Iterator[Suspect]:
    """The order of samples, their content, or the samples themselves."""
    if look.fact("structural"):
        yield Suspect(name="different-path")
    order = look.fact("order")
    if look.fact("built"):
        yield from _built(look)
    elif order == CONTENT:
        yield from _content(look)
    elif order == ORDER:
        yield from _order(look)
    else:
        yield from origins(look)
        both = (_order(look, observed=False), _content(look, observed=False))
        for suspects in both if order else reversed(both):
            yield from suspects
    if look.ranks > 1 and order != CONTENT:
        yield Suspect(name="rank-sampler", confidence="suspected", evidence=(f"The run has {look.ranks} ranks.",))


def _built(look: Look) -> Iterator[Suspect]:
    """The data set itself, or what a subset takes from it, is another one: made before the training by something that is not seeded."""
    early = look.fact("drawn_before_seed")
    said = tuple(
        f"{capital(str(name))} was drawn from before {line or 'the script'} seeds it."
        for name, line in (early.items() if isinstance(early, Mapping) else ())
    )
    private, draw = look.hint("entropy"), look.hint("draw") if said else look.unseeded_draw()
    found = list(origins(look))
    drawn = private or draw
    confidence: Confidence = "observed" if said or (drawn and not found) else "suspected"
    name = {ORDER: "private-shuffle" if private else "unseeded-shuffle", CONTENT: "private-augmentation"}
    own = "unseeded-split" if look.fact("subset") else name.get(str(look.fact("order")), "private-augmentation")
    if not private and (said or draw):
        own = own.replace("private-augmentation", "unseeded-augmentation")
    if look.fact("subset") and look.fact("order") != ORDER:
        confidence = "suspected" if found else "observed"
    suspect = by_hint(own, drawn, PRIVATE if private else "draws from a generator before it is seeded", confidence, said)
    yield from (suspect, *found) if said else (*found, suspect)


def _order(look: Look, *, observed: bool = True) -> Iterator[Suspect]:
    private = look.hint("entropy")
    seen: Confidence = "observed" if observed and (look.fact("epoch") or private) else "suspected"
    own = by_hint("private-shuffle", private, "makes a generator without a seed, or seeds it from the system", seen)
    yield from unseeded("unseeded-shuffle", look.unseeded_draw())
    own_kernels = {"mindspore", "tensorflow", "keras"} & {*look.frameworks[:1], *({"mindspore"} & set(look.frameworks))}
    if own_kernels and not look.names("seeded_by") and ("mindspore" in own_kernels or not look.hint("seed")):
        yield Suspect(name="unseeded-shuffle", confidence="suspected", evidence=("The script seeds no generator.",))
    others = list(origins(look))
    yield from (own, *others) if own.confidence == "observed" or not others else (*others, own)
    if look.fact("worker") is not None:
        yield Suspect(name="arrival-order", confidence="suspected", evidence=("The batches are made by worker processes.",))


def _content(look: Look, *, observed: bool = True) -> Iterator[Suspect]:
    """Torch seeds its workers from a generator of the main process: where that differs, its rung comes first, and not this one."""
    private, worker = look.hint("entropy"), look.fact("worker")
    confidence: Confidence = "observed" if observed else "suspected"
    if "tensorflow" in look.frameworks or "keras" in look.frameworks:
        yield Suspect(name="parallel-map", confidence="suspected")
    if worker is not None and private is not None and private.name.endswith("seed"):
        yield by_hint("worker-seed", private, "seeds from the system", confidence, (f"The batch was made by worker {worker}.",))
        confidence, private = "suspected", None
    others = () if private else tuple(origins(look))
    yield from others  # where the data are built otherwise, equal indices are not the same samples
    if others:
        confidence = "suspected"
    yield by_hint("private-augmentation", private, PRIVATE, confidence)


def origins(look: Look) -> Iterator[Suspect]:
    """Orders that Python, the file system or time decides: only where a line of the source speaks for it."""
    for name, (kinds, what) in ORIGINS.items():
        found = look.hint(*kinds)
        if not found or (name == "hash-order" and look.hash_is_fixed):
            continue
        evidence = [line(found, what)]
        if name == "hash-order":
            evidence.append("PYTHONHASHSEED was not fixed before the start, so strings hash differently in each process.")
        yield Suspect(name=name, confidence="suspected", evidence=tuple(evidence), source=found.source)
        late = look.hint("late hash seed") if name == "hash-order" else None
        if late:
            yield Suspect(name="late-hash-seed", confidence="suspected", evidence=(line(late, "comes too late"),), source=late.source)
