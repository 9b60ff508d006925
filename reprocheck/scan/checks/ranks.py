"""Several ranks: whether they agree on the order of an epoch."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.scan.checks.streams import closure, given
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit

_LAUNCHES = (
    "torch.distributed.init_process_group",
    "torch.nn.parallel.DistributedDataParallel",
    "horovod.torch.init",
    "deepspeed.initialize",
)
_LOADERS = ("torch.utils.data.DataLoader", "torch_geometric.loader.DataLoader")
_SAMPLERS = ("torch.utils.data.DistributedSampler",)
_OTHERS = (
    "accelerate",
    "lightning",
    "pytorch_lightning",
    "transformers",
    "ignite",
    "composer",
    "fastai",
)
"""Frameworks that put a sampler of their own in."""


@check("RC510")
def rank_order(module: Module, project: Project) -> Iterator[Hit]:
    """A shuffling loader without a sampler for ranks, and a sampler that is not told the epoch."""
    for order in module.orders:
        if (
            not order.whole
            or next(order.calls(*_LAUNCHES), None) is None
            or any(one.uses_package(*_OTHERS) for one in closure(order))
        ):
            continue
        for call in order.calls(*_LOADERS):
            if (
                given(call, "shuffle=True", 2, sure=True)
                and not given(call, "sampler", 3)
                and not given(call, "batch_sampler", 4)
            ):
                yield hit(
                    "RC510",
                    call,
                    "each rank shuffles the whole data set for itself here: shares overlap",
                )
                break
        yield from _without_epoch(order)


def _without_epoch(order: Order) -> Iterator[Hit]:
    if next(order.methods("set_epoch"), None) is not None:
        return
    for call in order.calls(*_SAMPLERS):
        if not given(call, "shuffle=False", 3, sure=True):
            yield hit(
                "RC510",
                call,
                "without `set_epoch` this sampler repeats the order of the first epoch",
                severity="note",
            )
            return
