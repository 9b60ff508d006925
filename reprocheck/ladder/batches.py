"""The batch rung: the same samples in another order, with other content, or other samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reprocheck.ladder import words
from reprocheck.ladder.align import Step
from reprocheck.ladder.finding import Finding, found, measure
from reprocheck.ladder.generators import Seeding, drawn_before_seed, is_key, seedings, worker_seeds
from reprocheck.ladder.pair import Difference, Pair
from reprocheck.model.evidence import BatchDiffers, Samples
from reprocheck.trace.deep import Seen

PLAIN = "inputs of "
"""How the place of a batch begins that no loader made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """What is not the same about the batches of a loader.

    built: it is so in the data set itself, or in the subset that is taken from it, before anything
    is drawn from it.
    """

    samples: Samples
    epoch: bool
    words: str
    built: bool = False


def batch(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """The first batch, or order of samples, that differs."""
    difference = differences[0]
    seen = difference.seen
    steps = [
        step
        for step in pair.steps
        if step.seen.kind in ("batch", "epoch") and step.seen.place == seen.place
    ]
    content = next(
        (one for one in differences if one.seen.kind == "batch" and one.seen.place == seen.place),
        difference,
    )
    change = _change(pair, difference, content, steps)
    measured = measure(pair, content)
    worker = f", made by worker {content.seen.worker}" if content.seen.worker is not None else ""
    plain = seen.place.startswith(PLAIN)
    who = (
        f"{words.code(seen.place.removeprefix(PLAIN))} is given"
        if plain
        else f"{words.code(seen.place)} hands out"
    )
    leaves = list(content.outputs)
    total = len(content.seen.outputs)
    which = (
        f" Of the {total} parts of a batch, {words.listed([words.code(path) for path in leaves])}"
        f" differ{'s' * (len(leaves) == 1)}."
    )
    epoch = _epoch(steps, difference)
    own = worker_seeds(pair, content.seen.worker)
    evidence = BatchDiffers(
        samples=change.samples,
        only_in_one_run=difference.structural,
        by_loader=not plain,
        whole_epoch=change.epoch,
        by_indices=content.seen.indices is not None,
        built=change.built,
        subset=change.built and _other(epoch, "subset"),
        worker=content.seen.worker,
        worker_seeds={name: (one.first, one.second) for name, one in own.items()},
        seed_line=next((one.line for one in own.values()), ""),
        private_generators=_private(epoch),
        seeded=tuple(sorted(seedings(pair, difference.step.number))),
        drawn_before_seed=(
            drawn_before_seed(pair, difference.step.number) if change.built else None
        ),
    )
    detail = (
        f"{words.sentence(who)[:-1]}"
        f" {change.words}{worker}.{which if 0 < len(leaves) < total else ''}"
    )
    sentence = (
        f"{words.within(seen.iteration)} {who}"
        f" {change.words}{worker}{_meaning(pair, difference, change, own)}"
    )
    return found(
        pair,
        difference.step,
        "batch",
        measured,
        detail=detail,
        sentence=sentence,
        evidence=evidence,
    )


def _change(
    pair: Pair, difference: Difference, content: Difference, steps: Sequence[Step]
) -> _Change:
    if difference.structural:
        here, there = (1, 2) if difference.step.first else (2, 1)
        what = (
            f"batch {difference.seen.call + 1} of the iteration"
            if difference.seen.kind == "batch"
            else "an order of samples"
        )
        return _Change(
            samples="unknown",
            epoch=False,
            words=f"{what} in run {here} that it does not in run {there}",
        )
    epoch = _epoch(steps, difference)
    if epoch is not None and epoch.first and epoch.second:
        if (held := _by_held(epoch.first, epoch.second)) is not None:
            return held
        a, b = epoch.first.indices, epoch.second.indices
        if a != b and not (epoch.first.cut or epoch.second.cut):
            return _by_epoch(a, b, built=_other(epoch, "subset"))
    return _by_content(content, steps)


def _epoch(steps: Sequence[Step], difference: Difference) -> Step | None:
    """The order of samples that was said last before a difference."""
    said = (
        step
        for step in reversed(steps)
        if step.seen.kind == "epoch" and step.number <= difference.step.number and step.both
    )
    return next(said, None)


def _private(epoch: Step | None) -> tuple[str, ...]:
    """The generators of the loader's own whose states were not the same when the epoch began, by
    where they hang.
    """
    if epoch is None or epoch.first is None or epoch.second is None:
        return ()
    a, b = epoch.first.private, epoch.second.private
    if isinstance(a, str) or isinstance(b, str):
        return ()
    return tuple(sorted(name for name in a if b.get(name, a[name]) != a[name]))


def _other(epoch: Step | None, name: str) -> bool:
    """Whether both runs say `subset` or `held` of a data set, and not the same."""
    if epoch is None or epoch.first is None or epoch.second is None:
        return False
    a, b = getattr(epoch.first, name), getattr(epoch.second, name)
    return bool(a and b and a != b)


def _by_held(a: Seen, b: Seen) -> _Change | None:
    """What the data set itself holds, where it is in memory and not the same in both runs."""
    if not (a.held and b.held) or a.held == b.held:
        return None
    if a.bag == b.bag:
        words = (
            "the same samples in another order (same samples, other order, over the epoch: the data"
            " set itself holds them so)"
        )
        return _Change(samples="other order", epoch=True, built=True, words=words)
    same = a.indices == b.indices
    words = (
        f"other samples or other content{' for the same indices' if same else ''}: the data set"
        " itself does not hold the same"
    )
    return _Change(
        samples="other content" if same else "other samples", epoch=False, built=True, words=words
    )


def _by_epoch(a: Sequence[object] | None, b: Sequence[object] | None, *, built: bool) -> _Change:
    """Two orders of an epoch; `built`: of subsets that do not take the same."""
    if _count(a) == _count(b):
        of = ": the subset lists them so" if built else ""
        words = f"the same samples in another order (same samples, other order, over the epoch{of})"
        return _Change(samples="other order", epoch=True, words=words, built=built)
    words = (
        "other samples: the subset takes others from the data set"
        if built
        else "other samples (over the whole epoch)"
    )
    return _Change(samples="other samples", epoch=True, words=words, built=built)


def _by_content(content: Difference, steps: Sequence[Step]) -> _Change:
    """Without an order of the epoch that differs: by the samples of the batches seen."""
    a, b = content.step.first, content.step.second
    if a is None or b is None:
        return _Change(samples="unknown", epoch=False, words="another batch")
    if a.indices is not None and a.indices == b.indices:
        return _Change(
            samples="other content", epoch=False, words="the same samples with other content"
        )
    batches = [step for step in steps if step.seen.kind == "batch" and step.both]
    seen = words.plural(len(batches), "batch", "batches")
    if (change := _by_all_seen(batches, seen)) is not None:
        return change
    one, other = a.samples or (), b.samples or ()
    hashed = bool(one and other)
    if hashed and len(one) != len(other):
        number = f"another number of samples ({len(one)} and {len(other)})"
        return _Change(samples="other samples", epoch=False, words=number)
    if set(content.outputs) < {path for path, _ in a.outputs}:
        part = "other content (the rest of the batch agrees)"
        return _Change(samples="other content", epoch=False, words=part)
    if hashed and (change := _by_hashes(one, other, seen)) is not None:
        return change
    either = f"other samples or other content (in the {seen} seen)"
    return _Change(samples="other samples", epoch=False, words=either)


def _by_all_seen(batches: Sequence[Step], seen: str) -> _Change | None:
    """By the samples of all batches seen: whether they are the same ones."""
    reordered = f"the same samples in another order (over the {seen} seen)"
    ones, others = _gathered(batches, "indices")
    if ones and _count(ones) == _count(others):
        return _Change(samples="other order", epoch=False, words=reordered)
    if ones:
        said = f"other samples (in the {seen} seen)"
        return _Change(samples="other samples", epoch=False, words=said)
    ones, others = _gathered(batches, "samples")
    if ones and _count(ones) == _count(others):
        return _Change(samples="other order", epoch=False, words=reordered)
    return None


def _by_hashes(one: Sequence[str], other: Sequence[str], seen: str) -> _Change | None:
    """By the hashes of the samples of one batch, as many in both runs: whether few of them are not
    the same, or all.
    """
    changed = sum(x != y for x, y in zip(one, other, strict=True))
    if 2 * changed < len(one):
        few = f"other content in {changed} of {len(one)} samples, the others agree"
        return _Change(samples="other content", epoch=False, words=few)
    if set(one).isdisjoint(other):
        none = f"other content: none of the {seen} seen holds the same samples"
        return _Change(samples="unknown", epoch=False, words=none)
    return None


def _gathered(batches: Iterable[Step], column: str) -> tuple[list[object], list[object]]:
    """The indices or the hashes of the samples of all batches, of both runs; empty where one is not
    known.
    """
    ones: list[object] = []
    others: list[object] = []
    for step in batches:
        a, b = getattr(step.first, column), getattr(step.second, column)
        if a is None or b is None:
            return [], []
        ones += a
        others += b
    return ones, others


def _count(values: Sequence[object] | None) -> Counter[Hashable]:
    return Counter(value if isinstance(value, Hashable) else repr(value) for value in values or ())


def _meaning(
    pair: Pair, difference: Difference, change: _Change, by_worker: Mapping[str, Seeding]
) -> str:
    """What the states and seeds of the generators say; `by_worker`: the seeds that the worker set
    by itself.
    """
    if difference.structural:
        return ""
    if by_worker:
        return f", because the worker seeds {_seeds(by_worker)}"
    step = difference.step
    moved = _drawn_from(step)
    agree = (
        f"although {words.generators(moved)} that it draws from agrees"
        if moved
        else "and no process-wide generator explains it"
    )
    if not moved and difference.seen.worker is not None:
        agree = "and no process-wide generator of the main process explains it"
    if change.built:
        return (
            ": it was built differently before the training,"
            f" {_seeded_late(pair, step) or 'and nothing recorded explains that'}"
        )
    return f", {agree}"


def _seeds(by_worker: Mapping[str, Seeding]) -> str:
    """`numpy from the operating system in line 9 of train.py`."""
    first = next(iter(by_worker.values()))
    number = (
        "from the operating system"
        if first.by_system or first.first is None
        else "with another number in each run"
    )
    where = f" in {words.line(first.line)}" if first.line else ""
    return f"{words.listed(list(by_worker))} {number}{where}"


def _drawn_from(step: Step) -> list[str]:
    """The generators that moved for a batch.

    Keys do not move: those that stand with a batch were made by then, and maybe never used.
    """
    names = {*(step.first.after if step.first else {}), *(step.second.after if step.second else {})}
    return sorted(name for name in names if not is_key(name))


def _seeded_late(pair: Pair, step: Step) -> str:
    """Generators that were drawn from before the script seeded them, as a clause."""
    early = drawn_before_seed(pair, step.number)
    if not early:
        return ""
    verb, them = ("was", "it") if len(early) == 1 else ("were", "them")
    return (
        f"and {words.listed(sorted(early))} {verb} drawn from before {_seed_place(early)} seeds"
        f" {them}"
    )


def _seed_place(early: Mapping[str, str]) -> str:
    line = next(iter(early.values()))
    return words.line(line) if line else "the script"
