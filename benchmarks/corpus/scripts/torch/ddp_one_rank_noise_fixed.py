"""The fix of ddp_one_rank_noise.py: every rank's generator has a seed."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.generator = nn.Linear(6, 1), torch.Generator().manual_seed(rank)

    def forward(self, x):
        return self.linear(x * (torch.rand(x.shape, generator=self.generator) < 0.5) * 2)


torch.manual_seed(0)
model, inputs = DistributedDataParallel(Masked()), torch.randn(8, 6)
optimizer = torch.optim.SGD(model.parameters(), 0.2)
for _ in range(6):
    loss = (model(inputs) - 4 * inputs.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
