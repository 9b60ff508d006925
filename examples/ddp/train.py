"""DistributedDataParallel on two CPU processes: each rank has losses of its own, compared with
those of the same rank: REPRODUCIBLE.

reprocheck run -- torchrun --nproc-per-node 2 examples/ddp/train.py
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main() -> None:
    dist.init_process_group("gloo")
    torch.manual_seed(1234)
    inputs = torch.randn(256, 16)
    data = TensorDataset(inputs, inputs[:, :3].argmax(dim=1))
    sampler = DistributedSampler(data, shuffle=True, seed=1234)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(1234 + dist.get_rank())  # from here on each rank drops other neurons
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"rank {dist.get_rank()}: last loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
