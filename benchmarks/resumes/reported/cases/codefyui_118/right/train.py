import torch
from nodes import LoaderNode, LoopNode
from torch import nn


def run(path="graph.pt"):
    torch.manual_seed(0)
    model = nn.Linear(5, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    start = LoaderNode().run(path, model, optimizer)
    data = torch.randn(4, 10, 5, generator=torch.Generator().manual_seed(1))
    LoopNode().run(model, optimizer, [(one, one[:, :2] * 3) for one in data], start, 5, path)


run()
