"""Trains nets on two ranks, each with a fault, or with twins of them that have none: argument
`faults` or `clean`.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

FAULTY = sys.argv[1:] == ["faults"]
STEPS = 3


class Dropping(nn.Module):
    """A module of the script's own that drops by a function."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 1)

    def forward(self, x):
        return self.second(nn.functional.dropout(self.first(x), 0.5, self.training))


class LayerDrop(nn.Module):
    """All ranks decide alike whether a layer is left out, and must."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            keep = (torch.rand(()) < 0.8).float()
            x = x + keep * layer(x)
        return x


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(checkpoint(self.body, x, use_reentrant=False))


class Sharded(nn.Module):
    """A block whose inner activations are split over the ranks, and whose outputs are not."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        self.inner, self.outer = nn.Dropout(0.5), nn.Dropout(0.5)

    def forward(self, x, step):
        rank = dist.get_rank()
        hidden = self.up(x)
        torch.manual_seed(step if FAULTY else 100 * step + rank)
        hidden = self.inner(hidden)
        y = self.down(hidden)
        torch.manual_seed(1000 + step + (rank if FAULTY else 0))
        return self.outer(y)


def seed(number, rank):
    torch.manual_seed(number if FAULTY else 1000 * number + rank)


def step(net, optimizer, *given):
    loss = net(*given).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def sgd(net):
    return torch.optim.SGD(net.parameters(), lr=1e-4)


def loader_of(data, rank):
    sampler = DistributedSampler(data, num_replicas=2, rank=rank)
    return DataLoader(data, batch_size=4, sampler=sampler)


def train(net, loader):
    optimizer = sgd(net)
    for (x,) in loader:
        step(net, optimizer, x)


def main(rank, file):
    dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=2)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(24, 8))

    masks = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    masks = DistributedDataParallel(masks)
    seed(1, rank)
    train(masks, loader_of(data, rank))

    plain = DistributedDataParallel(nn.Linear(8, 1))
    torch.manual_seed(2)
    train(plain, DataLoader(data, batch_size=4, shuffle=True) if FAULTY else loader_of(data, rank))

    noisy = DistributedDataParallel(nn.Linear(8, 2))
    optimizer = sgd(noisy)
    seed(3, rank)
    for (x,) in loader_of(data, rank):
        step(noisy, optimizer, x + torch.randn_like(x))

    torch.manual_seed(4)
    fsdp = Dropping()
    fully_shard(fsdp, mesh=init_device_mesh("cpu", (2,), mesh_dim_names=("dp",)))
    seed(4, rank)
    train(fsdp, loader_of(data, rank))

    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
    torch.manual_seed(5)
    tensor_parallel = parallelize_module(
        Sharded(), mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()}
    )
    optimizer = sgd(tensor_parallel)
    for number, (x,) in enumerate(DataLoader(data, batch_size=4)):
        step(tensor_parallel, optimizer, x, number)

    torch.manual_seed(6)
    both = parallelize_module(nn.Linear(8, 8), mesh, ColwiseParallel())
    torch.manual_seed(7 + rank if FAULTY else 7)
    train(both, DataLoader(data, batch_size=4, shuffle=True))

    again = DistributedDataParallel(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)))
    optimizer = sgd(again)
    for number, (x,) in enumerate(loader_of(data, rank)):
        torch.manual_seed(20 + rank if FAULTY else 1000 * number + rank)
        step(again, optimizer, x)

    by_hand = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.3))
    optimizer = sgd(by_hand)
    seed(8, rank)
    for (x,) in loader_of(data, rank):
        optimizer.zero_grad()
        by_hand(x).square().mean().backward()
        for weight in by_hand.parameters():
            dist.all_reduce(weight.grad)
        optimizer.step()

    if not FAULTY:
        layer_drop = DistributedDataParallel(LayerDrop(), find_unused_parameters=True)
        torch.manual_seed(9)
        train(layer_drop, loader_of(data, rank))
        checkpointed = DistributedDataParallel(Checkpointed())
        torch.manual_seed(10 + rank)
        train(checkpointed, loader_of(data, rank))
        own = data.tensors[0][rank::2]
        indexed = DistributedDataParallel(nn.Linear(8, 3))
        optimizer = sgd(indexed)
        torch.manual_seed(11)
        for _ in range(STEPS):
            step(indexed, optimizer, own[torch.randint(len(own), (4,))])
        sampled = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))
        for (x,) in loader_of(data, rank):
            torch.manual_seed(12)
            with torch.no_grad():
                sampled(x)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(main, (os.path.join(folder, "ranks"),), nprocs=2)
