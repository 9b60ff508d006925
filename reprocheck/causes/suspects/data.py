"""Batches that differ although the default generators agree, and the origins of what no recorded
step has made.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from reprocheck.causes.evidence import Recorded
from reprocheck.causes.suspects.inspection import Look, Suspect, by_hint, if_hinted, unseeded
from reprocheck.causes.suspects.path import other_path
from reprocheck.causes.usercode import Hint
from reprocheck.fixes.seeds import seeds_from_system
from reprocheck.model.evidence import BatchDiffers, Samples
from reprocheck.model.statements.causes import (
    Circumstance,
    Doing,
    DrawnBeforeSeed,
    MadeByWorkers,
    Ranks,
    SeededByWorker,
)
from reprocheck.scan.places import OF_OBJECTS

ORIGINS: Mapping[str, tuple[tuple[str, ...], Doing]] = {
    "hash-order": (("set order", "hash"), "an order of a set"),
    "directory-order": (("listing",), "an order of a listing"),
    "temporary-names": (("temporary",), "a random file name"),
    "address-order": (("address",), "an order of addresses"),
    "arrival-order": (("arrival",), "an order of arrival"),
    "unseeded-split": (("split",), "a split"),
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
    """Yield the order of samples, their content, or the samples themselves."""
    shown = look.shown(BatchDiffers)
    if shown.only_in_one_run:
        yield from other_path(look)
    if shown.built:
        yield from _built(look, shown)
    else:
        yield from _BY_SAMPLES[shown.samples](look, shown)
    # ranks take their samples by their numbers: that changes which they take, not what these hold
    if look.ranks > 1 and shown.samples != "other content":
        yield Suspect(name="rank-sampler", statements=(Ranks(number=look.ranks),))


def _built(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    """Yield the data set itself, or what a subset takes from it, is another one: made before the
    training by something that is not seeded.
    """
    early = batch.drawn_before_seed or {}
    drawn = drawn_early(early)
    private, draw = look.hint("entropy"), look.unseeded_draw()
    if early:
        draw = look.hint("draw")
    found = list(origins(look))
    shown = drawn_before(early)
    if batch.subset and not found:
        shown = (*shown, *look.recorded("taken from the set differs"))
    if private is not None:
        name = _built_privately(batch)
        suspect = by_hint(name, private, "a generator or a draw", shown, drawn)
    else:
        name = _built_by_draw(batch, unseeded=draw is not None or bool(early))
        suspect = by_hint(name, draw, "a draw before the seed", shown, drawn)
    if drawn:
        yield from (suspect, *found)
    else:
        yield from (*found, suspect)


def drawn_early(early: Mapping[str, str]) -> tuple[DrawnBeforeSeed, ...]:
    """Return generators that were seeded only after something had drawn from them, by their
    lines.
    """
    return tuple(DrawnBeforeSeed(generator=name, seed=seed) for name, seed in early.items())


def drawn_before(early: Mapping[str, str]) -> tuple[Recorded, ...]:
    """Return the same as facts."""
    return tuple(Recorded(kind="drawn before its seed", of=name) for name in early)


def _built_privately(batch: BatchDiffers) -> str:
    """Return the entry for a data set that something private made: by what is not the same about
    it.
    """
    if batch.subset:
        return "unseeded-split"
    if batch.samples == "other order":
        return "private-shuffle"
    return "private-augmentation"


def _built_by_draw(batch: BatchDiffers, *, unseeded: bool) -> str:
    """Return the same where no line makes a generator of its own; `unseeded`: a draw is known."""
    if batch.subset:
        return "unseeded-split"
    if batch.samples == "other order":
        return "unseeded-shuffle"
    if unseeded:
        return "unseeded-augmentation"
    return "private-augmentation"


def _order(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    private = look.hint("entropy")
    yield from unseeded(_drawn_for(look, batch), look.unseeded_draw())
    if _pipeline_unseeded(look, batch):
        no_seed = Circumstance(kind="no seed of the pipeline")
        yield Suspect(name="unseeded-shuffle", statements=(no_seed,))
    own = _own_order(batch, private)
    others = list(origins(look))
    # another line explains it only where nothing speaks for a generator of the loader's own
    if batch.private_generators or batch.whole_epoch or private:
        yield from (own, *others)
    else:
        yield from (*others, own)
    if batch.worker is not None:
        yield Suspect(name="arrival-order", statements=(MadeByWorkers(),))


def _drawn_for(look: Look, batch: BatchDiffers) -> str:
    """Return the entry for a line that draws: the order of samples, or what they hold."""
    if batch.samples == "other order" or look.draws_an_order(look.rung.unused_generators):
        return "unseeded-shuffle"
    return "unseeded-augmentation"


def _own_order(batch: BatchDiffers, private: Hint | None) -> Suspect:
    """Return an order that a generator of the loader's own draws."""
    if private is not None and seeds_from_system(private.name):
        return by_hint("clock-seed", private, "a default seed of the system")
    own = batch.private_generators
    shown = tuple(Recorded(kind="private state differs", of=name) for name in own)
    return by_hint("private-shuffle", private, "a generator or its seed", shown)


def _pipeline_unseeded(look: Look, batch: BatchDiffers) -> bool:
    """Return whether the batches come from a pipeline that shuffles by itself, and nothing seeded
    what it takes its seeds from.
    """
    framework = look.framework
    if "mindspore" in look.frameworks:
        # its data sets may feed the training of any other framework
        framework = "mindspore"
    seeds = _PIPELINES.get(framework)
    return seeds is not None and seeds.isdisjoint(batch.seeded)


def _content(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    """Torch seeds its workers from a generator of the main process: where that differs, its rung
    comes first, and not this one.
    """
    private, worker = look.hint("entropy"), batch.worker
    parallel = look.hint("parallel map")
    yield from if_hinted("parallel-map", parallel, "a function for several samples")
    if batch.worker_seeds:
        yield _seeded_by_worker(look, worker, batch.worker_seeds)
    elif worker is not None and private is not None and private.name.endswith("seed"):
        made = MadeByWorkers(worker=worker)
        yield by_hint("worker-seed", private, "a seed of the system", statements=(made,))
        private = None
    # where the data are built otherwise, equal indices are not the same samples
    if private is None:
        yield from unfilled(look)
        yield from origins(look)
    elif seeds_from_system(private.name):
        yield by_hint("clock-seed", private, "a default seed of the system")
        return
    yield by_hint("private-augmentation", private, "a generator or a draw")


def _any(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    """Other samples: of another order, or of another content."""
    yield from unfilled(look)
    yield from origins(look)
    yield from _order(look, batch)
    yield from _content(look, batch)


def _unknown(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    """Yield the same where nothing shows whether they are other samples at all."""
    yield from unfilled(look)
    yield from origins(look)
    yield from _content(look, batch)
    yield from _order(look, batch)


def _seeded_by_worker(
    look: Look, worker: int | None, seeds: Mapping[str, tuple[object, object]]
) -> Suspect:
    """Return a worker of a loader seeded a generator by itself, with another number in each run."""
    statements = tuple(_seeds_of_worker(worker, name, *both) for name, both in seeds.items())
    shown = tuple(
        Recorded(kind="seeded unequally", of=f"{name} of worker {worker}") for name in seeds
    )
    source = look.seed_line()
    return Suspect(name="worker-seed", shown=shown, statements=statements, source=source)


def _seeds_of_worker(
    worker: int | None, generator: str, first: object, second: object
) -> SeededByWorker:
    numbers = None
    if (first, second) != (None, None):
        numbers = str(first), str(second)
    return SeededByWorker(worker=worker, generator=generator, seeds=numbers)


def unfilled(look: Look) -> Iterator[Suspect]:
    """Yield a line that leaves memory unfilled.

    It comes before addresses, which are among what the memory held.
    """
    memory = look.hint("memory")
    if memory is not None:
        suspect = by_hint("uninitialised-memory", memory, "an unfilled array")
        yield replace(suspect, fix=_FILLED.get(memory.name.partition(".")[0], ""))


def origins(look: Look) -> Iterator[Suspect]:
    """Orders that Python, the file system or time decides: only where a line of the source speaks
    for it.
    """
    for name, (kinds, does) in ORIGINS.items():
        found = look.hint(*kinds)
        if found is None:
            continue
        suspect = by_hint(name, found, does)
        if found.name.endswith(OF_OBJECTS):
            suspect = replace(suspect, fix=_IN_ORDER)
        if name == "hash-order":
            yield from _by_hash(look, replace(suspect, fix=_without_hash(found)))
        else:
            yield suspect


def _by_hash(look: Look, suspect: Suspect) -> Iterator[Suspect]:
    """Hashes of strings decide only where the user did not fix them, before the start."""
    if look.hash_is_fixed:
        return
    unfixed = Circumstance(kind="hashes are not fixed")
    yield replace(suspect, statements=(*suspect.statements, unfixed))
    yield from if_hinted("late-hash-seed", look.hint("late hash seed"), "a hash seed, too late")


def _without_hash(found: Hint) -> str:
    """Return the line with a sorted set, or a checksum in the place of a hash; "" where the text
    does not show what to write otherwise.
    """
    if not found.of:
        return ""
    if found.kind == "set order":
        return _line_with(found, f"sorted({found.of})")
    match ast.parse(found.of, mode="eval").body:
        case ast.Call(args=[hashed]):
            line = _line_with(found, f"zlib.crc32(repr({ast.unparse(hashed)}).encode())")
            return f"import zlib\n\n{line}"
    return ""


def _line_with(found: Hint, better: str) -> str:
    """Return the line of a hint with another expression; that alone where it stands on several
    lines.
    """
    text = found.source.text.strip()
    if found.of not in text:
        return f"{better}  # instead of {found.of}"
    return text.replace(found.of, better)


_BY_SAMPLES: Mapping[Samples, Callable[[Look, BatchDiffers], Iterator[Suspect]]] = {
    "other content": _content,
    "other order": _order,
    "other samples": _any,
    "unknown": _unknown,
}
"""What is suspected, by what is not the same about the samples."""
