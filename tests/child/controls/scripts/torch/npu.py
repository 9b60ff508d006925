"""Trains on a device `npu` that nobody seeds; `drawn` shows what is drawn there."""

import json

import torch
from torch import nn

weights = torch.Generator().manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
for parameter in net.parameters():
    parameter.data.copy_(torch.rand(parameter.shape, generator=weights))
net.to("npu")
inputs = torch.rand(4, 6, generator=weights).to("npu")
optimizer = torch.optim.SGD(net.parameters(), 1e-3, foreach=False)
for _ in range(4):
    loss = (net(inputs) + 0.1 * torch.randn(4, 1, device="npu")).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.manual_seed(5)
torch.npu.manual_seed_all(99)
drawn = [
    torch.rand(2, device="npu"),
    torch.randn(2, device="npu"),
    torch.empty(2, device="npu").exponential_(),
    torch.randperm(5, device="npu"),
]
torch.manual_seed(5)
host = [torch.rand(2), torch.randn(2), torch.empty(2).exponential_(), torch.randperm(5)]
same = [torch.equal(one.cpu(), two) for one, two in zip(drawn, host)]
print(json.dumps({"same": same, "empty": torch.empty(3, device="npu").cpu().tolist()}))
