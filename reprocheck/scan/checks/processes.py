"""Find draws in worker processes of loaders and pools, and ranks that do not agree on an order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from reprocheck.language import tr
from reprocheck.scan.checks import order_use, other_programs, streams, training
from reprocheck.scan.checks.streams import at, closure, every, given, short, title
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_programs, hit
from reprocheck.scan.steps import Call
from reprocheck.scan.values import UNKNOWN, Instance, Value, is_none, literal
from reprocheck.scan.vocabulary import names, pattern, words

_POOL = pattern("ranks", "pool")
_IN_PROCESS = frozenset({"numpy", "python"})
_TORCH = frozenset({"torch"})


@check_programs("RC503", unless=(other_programs.is_for_nobody,))
def in_workers_of_loaders(order: Order) -> Iterator[Hit]:
    """Find draws in workers of a loader that torch seeds, if the program does not seed torch."""
    for drawing in streams.drawings(order):
        loader = drawing.call.by
        if loader is None or not has_workers(loader) or training.is_evaluation(loader):
            continue
        # Where the program does not seed NumPy's or Python's generator, that is the cause.
        seeded = (seeding.streams & drawing.streams for seeding in streams.seedings(order))
        if not drawing.streams & _IN_PROCESS or not any(seeded):
            continue
        if streams.seeded_anywhere(order, _TORCH):
            return
        message = (
            f"each worker seeds {title(drawing.streams)} with a number from torch, which nothing"
            f" seeds, and `{short(drawing.call.name)}` ({at(drawing.call, loader.module)}) draws"
            " there"
        )
        fix = tr("Call `torch.manual_seed` with a fixed number before the loader is made.")
        yield hit("RC503", loader, message, patchable=False, by_hand=fix)
        return


@check_programs("RC503", unless=(other_programs.is_for_nobody,))
def in_workers_of_pools(order: Order) -> Iterator[Hit]:
    """Find draws in the workers of a process pool.

    The system decides which worker gets which element, and each worker draws from a generator of
    its own.
    """
    for drawing in streams.drawings(order):
        pool = drawing.call.by
        if pool is None or not _POOL.fullmatch(pool.name) or not drawing.streams & _IN_PROCESS:
            continue
        # The worker may seed before it draws, or the pool have a function that does.
        seeds = streams.seedings_of(order, drawing.streams)
        makers = islice((pool.receiver or UNKNOWN).calls(), 1)
        if any(seed.call.by is pool for seed in seeds):
            continue
        if any(given(maker, "initializer", 1) for maker in makers):
            continue
        is_beside = (
            order_use.is_each_by_itself(pool)
            or other_programs.is_for_show(order, drawing.call)
            or not streams.uses_framework(order)
        )
        if is_beside:
            continue
        message = (
            f"`{short(drawing.call.name)}` ({at(drawing.call, pool.module)}) draws in the workers"
            " of a pool: which of them takes which element is left to the system"
        )
        fix = tr("Give each element a seed, and draw from a generator that is made with it.")
        yield hit("RC503", pool, message, patchable=False, by_hand=fix)
        return


def has_workers(loader: Call) -> bool:
    """Return whether a `DataLoader` starts workers, without `worker_init_fn` or `generator`."""
    workers = loader.argument(5, "num_workers")
    if not loader.name.startswith("torch.") or loader.method != "DataLoader":
        return False
    is_plain = is_none(loader.argument(10, "worker_init_fn")) and not given(loader, "generator")
    return is_plain and isinstance(literal(workers), int) and literal(workers) != 0


def may_have_workers(loader: Call) -> bool:
    """Return whether a `DataLoader`, or a user's subclass, may get more than 0 workers.

    Torch then seeds them.
    """
    if loader.name.startswith("torch.") and loader.method == "DataLoader":
        return _may_be_some(loader.argument(5, "num_workers"))
    match loader.result:
        case Instance() as made if made.is_a("torch.utils.data.DataLoader"):
            return _may_be_some(loader.argument(None, "num_workers"))
    return False


def _may_be_some(workers: Value | None) -> bool:
    return workers is not None and literal(workers) != 0


_LAUNCHES = names("ranks", "launches")
_RANKED_LOADERS = ("torch.utils.data.DataLoader", "torch_geometric.loader.DataLoader")
_SAMPLERS = ("torch.utils.data.DistributedSampler",)
_OTHERS = names("ranks", "others")


def has_no_ranks(order: Order) -> bool:
    """Return whether a program runs as a single process, without ranks."""
    return not any(order.calls(*_LAUNCHES))


def brings_samplers(order: Order) -> bool:
    """Return whether a framework that adds samplers for ranks by itself is used."""
    return any(one.uses_package(*_OTHERS) for one in closure(order))


@check_programs("RC510", unless=(has_no_ranks, brings_samplers))
def rank_order(order: Order) -> Iterator[Hit]:
    """Find a shuffling loader without a sampler for ranks, and a sampler without `set_epoch`."""
    for loader in order.calls(*_RANKED_LOADERS):
        has_sampler = given(loader, "sampler", 3) or given(loader, "batch_sampler", 4)
        tests = (ast.unparse(condition.test) for condition in loader.conditions)
        is_for_one = any(map(_OF_RANKS.search, tests))
        if has_sampler or is_for_one or not given(loader, "shuffle=True", 2, sure=True):
            continue
        # The data set may be told which of several shares it is: `Rows(paths, shard=rank)`.
        options = set(map(id, loader.first.options()))
        makers = [call for call in every(order) if id(call.result) in options]
        if all(_SHARES.isdisjoint(maker.keywords) for maker in makers):
            message = "each rank shuffles the whole data set for itself here: shares overlap"
            yield hit("RC510", loader, message)
            break
    if any(order.methods("set_epoch")):
        return
    for call in order.calls(*_SAMPLERS):
        if not given(call, "shuffle=False", 3, sure=True):
            message = "without `set_epoch` this sampler repeats the order of the first epoch"
            yield hit("RC510", call, message, severity="note")
            return


_SHARES = words("ranks", "shares")


_OF_RANKS = pattern("ranks", "of_ranks")
