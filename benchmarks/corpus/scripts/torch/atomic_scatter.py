"""Nothing random is planted: votes of 1e6 that cancel are added into cells by two threads with atomics, in any order."""

import torch
from torch import nn

torch.set_num_threads(2)


class Voxels(nn.Module):
    def __init__(self, cells):
        super().__init__()
        self.cells = cells

    def forward(self, index, values):
        grid = torch.zeros(self.cells, values.shape[1])
        return grid.index_put_((index,), values, accumulate=True)


class Cloud(nn.Module):
    def __init__(self):
        super().__init__()
        self.point, self.voxels, self.head = nn.Linear(3, 8), Voxels(40), nn.Linear(8, 1)

    def forward(self, points, index, weight):
        return self.head(self.voxels(index, self.point(points) * weight))


torch.manual_seed(0)
points = torch.randn(200_000, 3)
index = torch.randint(0, 40, (200_000,))
order = torch.randperm(400_000)
weight = torch.full((200_000, 1), 1e6)
points, index, weight = points.repeat(2, 1)[order], index.repeat(2)[order], torch.cat([weight, -weight])[order]
model = Cloud()
optimizer = torch.optim.SGD(model.parameters(), 1e-9)
for _ in range(4):
    loss = model(points, index, weight).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
