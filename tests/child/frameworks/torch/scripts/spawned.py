"""Two ranks from `torch.multiprocessing.spawn`, which meet through a file: no variable names a rank."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

RANKS = 2


def train(rank: int, meeting: str) -> None:
    assert not {"RANK", "LOCAL_RANK", "WORLD_SIZE"} & set(os.environ)
    # The numbers are dealt out the other way round: only torch.distributed knows them.
    rank = RANKS - 1 - rank
    dist.init_process_group("gloo", store=dist.FileStore(meeting, RANKS), rank=rank, world_size=RANKS)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(6, 1))
    torch.manual_seed(1 + rank)
    inputs = torch.randn(16, 6)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for _ in range(8):
        loss = (model(inputs) - inputs.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        print(f"rank {rank} {loss.item().hex()}\n", end="", flush=True)
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(os.path.join(folder, "meeting"),), nprocs=RANKS)
