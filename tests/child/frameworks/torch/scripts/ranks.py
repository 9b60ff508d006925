"""Data-parallel training on CPU processes of torchrun: `ranks.py [FAULT]`, or of its own, forked: `ranks.py FAULT RANKS`.

fault       rank 1 alone draws its targets without a seed, in every run others
kernel      the last rank but one: the backward of `body.1` adds noise to what it returns
reduction   the hook that reduces the gradients adds noise to the sum, the same on all ranks
sharded     as kernel, with weights that FSDP shards
"""

import os
import shutil
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

FAULT = sys.argv[1] if sys.argv[1:] else ""


def noise(like):
    """Other numbers in every run, and no trace in the default generators."""
    private = torch.Generator()
    private.seed()
    return torch.randn(like.shape, generator=private)


class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient + noise(gradient)


class Kernel(nn.Module):
    """A layer whose backward is noisy on one rank."""

    def __init__(self, rank):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.noisy = FAULT in ("kernel", "sharded") and rank == max(1, dist.get_world_size() - 2)

    def forward(self, x):
        x = self.linear(x)
        return Noisy.apply(x) if self.noisy else x


def reduce_with_noise(state, bucket):
    """The average over ranks, and the same noise for all of them: what a collective gives that adds wrongly."""
    total = bucket.buffer() + (noise(bucket.buffer()) if dist.get_rank() == 0 else 0)
    return dist.all_reduce(total, async_op=True).get_future().then(lambda future: future.value()[0] / dist.get_world_size())


def parallel(model):
    if FAULT == "sharded":
        from torch.distributed.fsdp import fully_shard

        for layer in model:
            if isinstance(layer, (nn.Linear, Kernel)):
                fully_shard(layer)
        return fully_shard(model)
    model = DistributedDataParallel(model)
    if FAULT == "reduction":
        model.register_comm_hook(None, reduce_with_noise)
    return model


def train(rank):
    torch.manual_seed(0)
    model = parallel(nn.Sequential(nn.Linear(6, 8), Kernel(rank), nn.Tanh(), nn.Linear(8, 1)))
    torch.manual_seed(1 + rank)
    inputs = torch.randn(16, 6)
    targets = inputs.sum(1, keepdim=True)
    if rank == 1 and FAULT == "fault":
        targets += 10 * noise(targets[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for _ in range(8):
        loss = (model(inputs) - targets).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        print(f"rank {rank} {loss.item().hex()}\n", end="", flush=True)
        optimizer.step()
    dist.barrier()  # else a thread of gloo may still let go of a gradient while the interpreter ends, and abort it
    dist.destroy_process_group()


def fork(ranks):
    """Ranks of one process, which has imported for all of them what they need. It alone removes the folder in which they meet."""
    import torch._dynamo  # noqa: F401 - every optimizer imports it; here it is done once, before the ranks part

    folder = tempfile.mkdtemp()
    children = []
    for rank in range(ranks):
        child = os.fork()
        if not child:
            dist.init_process_group("gloo", store=dist.FileStore(os.path.join(folder, "meeting"), ranks), rank=rank, world_size=ranks)
            train(rank)
            sys.exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    shutil.rmtree(folder)


if __name__ == "__main__":
    if sys.argv[2:]:
        fork(int(sys.argv[2]))
    else:
        dist.init_process_group("gloo")
        train(dist.get_rank())
