"""A clean training whose sums depend on the number of threads."""

import torch

torch.manual_seed(3)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 30 * 30, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(4):
    inputs = torch.randn(16, 3, 32, 32)
    optimizer.zero_grad()
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
