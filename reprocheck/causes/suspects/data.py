"""Choose suspects for batches that differ, and for values that no recorded step made.

The default generators agree in these cases.
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
    """Yield the suspects for the order of samples, for their content, or for other samples."""
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
    """Yield the suspects for a data set, or a subset of it, that differs before the training."""
    early = batch.drawn_before_seed or {}
    drawn = drawn_early(early)
    private, draw = look.hint("entropy"), look.unseeded_draw()
    if early:
        draw = look.hint("draw")
    found = list(origins(look))
    shown = drawn_before(early)
    if batch.subset and not found:
        shown = (*shown, *look.recorded("taken from the set differs"))
    # by what is not the same about the set
    if batch.subset:
        name = "unseeded-split"
    elif batch.samples == "other order":
        name = "unseeded-shuffle" if private is None else "private-shuffle"
    elif private is None and (draw is not None or early):
        name = "unseeded-augmentation"
    else:
        name = "private-augmentation"
    if private is None:
        suspect = by_hint(name, draw, "a draw before the seed", shown, drawn)
    else:
        suspect = by_hint(name, private, "a generator or a draw", shown, drawn)
    if drawn:
        yield from (suspect, *found)
    else:
        yield from (*found, suspect)


def drawn_early(early: Mapping[str, str]) -> tuple[DrawnBeforeSeed, ...]:
    """Return a statement for each generator that was drawn from before it was seeded."""
    return tuple(DrawnBeforeSeed(generator=name, seed=seed) for name, seed in early.items())


def drawn_before(early: Mapping[str, str]) -> tuple[Recorded, ...]:
    """Return a fact for each generator that was seeded only after something had drawn from it."""
    return tuple(Recorded(kind="drawn before its seed", of=name) for name in early)


def _order(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    private = look.hint("entropy")
    entry = "unseeded-augmentation"
    if batch.samples == "other order" or look.draws_an_order(look.rung.unused_generators):
        entry = "unseeded-shuffle"
    yield from unseeded(entry, look.unseeded_draw())
    # data sets of MindSpore may feed the training of any other framework
    framework = "mindspore" if "mindspore" in look.frameworks else look.framework
    seeds = _PIPELINES.get(framework)
    if seeds is not None and seeds.isdisjoint(batch.seeded):
        no_seed = Circumstance(kind="no seed of the pipeline")
        yield Suspect(name="unseeded-shuffle", statements=(no_seed,))
    if private is not None and seeds_from_system(private.name):
        own = by_hint("clock-seed", private, "a default seed of the system")
    else:
        names = batch.private_generators
        shown = tuple(Recorded(kind="private state differs", of=name) for name in names)
        own = by_hint("private-shuffle", private, "a generator or its seed", shown)
    others = list(origins(look))
    # another line explains it only where nothing speaks for a generator of the loader's own
    if batch.private_generators or batch.whole_epoch or private:
        yield from (own, *others)
    else:
        yield from (*others, own)
    if batch.worker is not None:
        yield Suspect(name="arrival-order", statements=(MadeByWorkers(),))


def _content(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    """Yield the suspects for samples in the same order with other content.

    Seeds that PyTorch gives its workers are not among them: they come from a generator of the main
    process, whose rung comes first if it differs.
    """
    private, worker = look.hint("entropy"), batch.worker
    parallel = look.hint("parallel map")
    yield from if_hinted("parallel-map", parallel, "a function for several samples")
    if batch.worker_seeds:
        # a worker of a loader seeded a generator by itself, with another number in each run
        statements = []
        shown = []
        for name, (first, second) in batch.worker_seeds.items():
            seeds = None
            if (first, second) != (None, None):
                seeds = str(first), str(second)
            statements.append(SeededByWorker(worker=worker, generator=name, seeds=seeds))
            shown.append(Recorded(kind="seeded unequally", of=f"{name} of worker {worker}"))
        yield Suspect(
            name="worker-seed",
            shown=tuple(shown),
            statements=tuple(statements),
            source=look.seed_line(),
        )
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
    """Yield the suspects for other samples: another order, and another content."""
    yield from unfilled(look)
    yield from origins(look)
    yield from _order(look, batch)
    yield from _content(look, batch)


def _unknown(look: Look, batch: BatchDiffers) -> Iterator[Suspect]:
    """Yield the suspects if it is not known whether the samples differ in order or in content."""
    yield from unfilled(look)
    yield from origins(look)
    yield from _content(look, batch)
    yield from _order(look, batch)


def unfilled(look: Look) -> Iterator[Suspect]:
    """Yield a line that leaves memory uninitialized.

    It comes before addresses, because uninitialized memory may hold addresses.
    """
    memory = look.hint("memory")
    if memory is not None:
        suspect = by_hint("uninitialised-memory", memory, "an unfilled array")
        yield replace(suspect, fix=_FILLED.get(memory.name.partition(".")[0], ""))


def origins(look: Look) -> Iterator[Suspect]:
    """Yield suspects for orders that Python, the file system or time decides.

    A line of the source must indicate one.
    """
    for name, (kinds, does) in ORIGINS.items():
        found = look.hint(*kinds)
        if found is None:
            continue
        suspect = by_hint(name, found, does)
        if found.name.endswith(OF_OBJECTS):
            suspect = replace(suspect, fix=_IN_ORDER)
        if name != "hash-order":
            yield suspect
        elif not look.hash_is_fixed:
            # hashes of strings decide only where the user did not fix them, before the start
            unfixed = Circumstance(kind="hashes are not fixed")
            statements = (*suspect.statements, unfixed)
            yield replace(suspect, fix=_without_hash(found), statements=statements)
            late = look.hint("late hash seed")
            yield from if_hinted("late-hash-seed", late, "a hash seed, too late")


def _without_hash(found: Hint) -> str:
    """Return the line with a sorted set, or with a checksum instead of a hash.

    "" if no replacement is known.
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
    """Return the line of a hint with its expression replaced by a better one.

    Only the better expression if the old one takes several lines.
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
