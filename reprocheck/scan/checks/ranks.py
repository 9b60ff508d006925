"""Find ranks (processes of one training) that do not agree on the order of an epoch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reprocheck.scan.checks.streams import closure, every, given
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_programs, hit
from reprocheck.scan.vocabulary import names

_LAUNCHES = names("ranks", "launches")
_LOADERS = ("torch.utils.data.DataLoader", "torch_geometric.loader.DataLoader")
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
    for loader in order.calls(*_LOADERS):
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


_SHARES = frozenset({"shard", "rank", "num_shards", "shard_id", "num_replicas", "world_size"})


_OF_RANKS = re.compile(r"world_size|distributed|num_replicas|is_dist|n_?gpus?\b")
"""`if world_size == 1:`, `if not args.distributed:`."""
