"""Batches that differ although the default generators agree, and the origins of what no recorded
step has made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from reprocheck.causes.evidence import Recorded
from reprocheck.causes.suspects.look import PRIVATE, Look, Suspect, by_hint, called, line, unseeded
from reprocheck.causes.suspects.path import other_path
from reprocheck.model.evidence import BatchDiffers
from reprocheck.model.letters import capital
from reprocheck.scan.places import OF_OBJECTS

ORIGINS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "hash-order": (("set order", "hash"), "the order of a set of strings, or a hash, decides here"),
    "directory-order": (("listing",), "files are used as the file system lists them"),
    "temporary-names": (("temporary",), "a random file name is made here"),
    "address-order": (("address",), "memory addresses determine an order here"),
    "arrival-order": (("arrival",), "what is ready first comes first here"),
    "unseeded-split": (("split",), "a split is drawn here without a seed"),
}
"""Entry -> kinds of hints that speak for it, and what the line does.

These show at inputs that no recorded step has made.
"""

_FILLED = {
    "numpy": (
        "padded = np.zeros(shape, dtype)  # or np.full(shape, value, dtype): np.empty holds what"
        " the memory held"
    ),
    "torch": (
        "padded = torch.zeros(shape)  # or torch.full(shape, value): torch.empty holds what the"
        " memory held"
    ),
}
"""By the module that a call of `empty` belongs to: the fix where data are made of it."""

_RESEEDS = frozenset({"torch.seed", "torch.random.seed", "numpy.random.seed", "random.seed"})
"""Without a number these seed a process-wide generator from the operating system: no private
generator is meant.
"""

_RESEEDED = "seeds the default generator from the operating system"

_IN_ORDER = (
    "parts = list(dict.fromkeys(parts))  # each once, in the order in which they came: a set orders"
    " objects by their addresses"
)

_PIPELINES: Mapping[str, frozenset[str]] = {
    "mindspore": frozenset({"mindspore", "mindspore.dataset"}),
    "tensorflow": frozenset({"tensorflow"}),
    "keras": frozenset({"keras", "python", "tensorflow"}),
}
"""Framework whose pipelines shuffle in kernels of their own -> the generators that these take their
seeds from.
"""


def batch(look: Look) -> Iterator[Suspect]:
    """The order of samples, their content, or the samples themselves."""
    shown = look.shown(BatchDiffers)
    if shown.only_in_one_run:
        yield other_path(look)
    if shown.built:
        yield from _built(look, shown)
    elif shown.samples == "other content":
        yield from _content(look, shown)
    elif shown.samples == "other order":
        yield from _order(look, shown)
    else:
        yield from unfilled(look)
        yield from origins(look)
        order, content = _order(look, shown), _content(look, shown)
        known = shown.samples != "unknown"
        yield from (*order, *content) if known else (*content, *order)
    if look.ranks > 1 and shown.samples != "other content":
        yield Suspect(name="rank-sampler", evidence=(f"The run has {look.ranks} ranks.",))


def _built(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    """The data set itself, or what a subset takes from it, is another one: made before the training
    by something that is not seeded.
    """
    early = batch.drawn_before_seed or {}
    said = tuple(
        f"{capital(name)} was drawn from before {line or 'the script'} seeds it."
        for name, line in early.items()
    )
    private, draw = look.hint("entropy"), look.hint("draw") if said else look.unseeded_draw()
    found = list(origins(look))
    shown = tuple(Recorded(kind="drawn before its seed", of=name) for name in early)
    if batch.subset and not found:
        shown = (*shown, *look.recorded("taken from the set differs"))
    name = _name_of_built(batch, private=private is not None, unseeded=bool(said or draw))
    what = PRIVATE if private else "draws from a generator before it is seeded"
    suspect = by_hint(name, private or draw, what, shown, said)
    yield from (suspect, *found) if said else (*found, suspect)


def _name_of_built(batch: BatchDiffers, *, private: bool, unseeded: bool) -> str:
    """The entry for a data set that was made otherwise: by what is not the same about it."""
    if batch.subset:
        return "unseeded-split"
    if batch.samples == "other order":
        return "private-shuffle" if private else "unseeded-shuffle"
    return "unseeded-augmentation" if unseeded and not private else "private-augmentation"


def _order(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    private = look.hint("entropy")
    shown = tuple(
        Recorded(kind="private state differs", of=name) for name in batch.private_generators
    )
    own = by_hint(
        "private-shuffle",
        private,
        "makes a generator without a seed, or seeds it from the system",
        shown,
    )
    if private is not None and private.name in _RESEEDS:
        own = by_hint("clock-seed", private, _RESEEDED)
    reordered = batch.samples == "other order"
    shuffles = reordered or look.draws_an_order(look.rung.unused_generators)
    yield from unseeded(
        "unseeded-shuffle" if shuffles else "unseeded-augmentation", look.unseeded_draw()
    )
    if _pipeline_unseeded(look, batch):
        yield Suspect(
            name="unseeded-shuffle", evidence=("No seed was recorded that its pipeline takes.",)
        )
    others = list(origins(look))
    likely = shown or batch.whole_epoch or private
    yield from (own, *others) if likely or not others else (*others, own)
    if batch.worker is not None:
        yield Suspect(name="arrival-order", evidence=("The batches are made by worker processes.",))


def _pipeline_unseeded(look: Look, batch: BatchDiffers) -> bool:
    """Whether the batches come from a pipeline that shuffles by itself, and nothing seeded what it
    takes its seeds from.
    """
    framework = "mindspore" if "mindspore" in look.frameworks else next(iter(look.frameworks), "")
    seeds = _PIPELINES.get(framework)
    return seeds is not None and seeds.isdisjoint(batch.seeded)


def _content(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    """Torch seeds its workers from a generator of the main process: where that differs, its rung
    comes first, and not this one.
    """
    private, worker = look.hint("entropy"), batch.worker
    if parallel := look.hint("parallel map"):
        yield by_hint("parallel-map", parallel, "calls a function for several samples at a time")
    if batch.worker_seeds:
        yield _seeded_by_worker(look, worker, batch.worker_seeds)
    elif worker is not None and private is not None and private.name.endswith("seed"):
        yield by_hint(
            "worker-seed",
            private,
            "seeds from the system",
            (),
            (f"The batch was made by worker {worker}.",),
        )
        private = None
    # where the data are built otherwise, equal indices are not the same samples
    if private is None:
        yield from unfilled(look)
        yield from origins(look)
    if private is not None and private.name in _RESEEDS:
        yield by_hint("clock-seed", private, _RESEEDED)
        return
    yield by_hint("private-augmentation", private, PRIVATE)


def _seeded_by_worker(
    look: Look, worker: int | None, seeds: Mapping[str, tuple[object, object]]
) -> Suspect:
    """A worker of a loader seeded a generator by itself, with another number in each run."""
    said = tuple(_seeds_of_worker(worker, name, *both) for name, both in seeds.items())
    shown = tuple(
        Recorded(kind="seeded unequally", of=f"{name} of worker {worker}") for name in seeds
    )
    return Suspect(name="worker-seed", shown=shown, evidence=said, source=look.seed_line())


def _seeds_of_worker(worker: int | None, generator: str, first: object, second: object) -> str:
    if first is None and second is None:
        return f"Worker {worker} seeded {generator} from the operating system."
    return f"Worker {worker} seeded {generator} with {first} in run 1 and {second} in run 2."


def unfilled(look: Look) -> Iterator[Suspect]:
    """A line that leaves memory unfilled.

    It comes before addresses, which are among what the memory held.
    """
    memory = look.hint("memory")
    if memory is not None:
        suspect = by_hint("uninitialised-memory", memory, "makes an array without filling it")
        yield replace(suspect, fix=_FILLED.get(memory.name.partition(".")[0], ""))


def origins(look: Look) -> Iterator[Suspect]:
    """Orders that Python, the file system or time decides: only where a line of the source speaks
    for it.
    """
    for name, (kinds, what) in ORIGINS.items():
        found = look.hint(*kinds)
        if not found or (name == "hash-order" and look.hash_is_fixed):
            continue
        evidence = [line(found, what)]
        if name == "hash-order":
            evidence.append(
                "PYTHONHASHSEED was not fixed before the start, so strings hash differently in each"
                " process."
            )
        fix = _IN_ORDER if found.name.endswith(OF_OBJECTS) else ""
        yield Suspect(
            name=name,
            evidence=tuple(evidence),
            source=found.source,
            fix=fix,
            calls=called(found),
        )
        late = look.hint("late hash seed") if name == "hash-order" else None
        if late:
            yield by_hint("late-hash-seed", late, "comes too late")
