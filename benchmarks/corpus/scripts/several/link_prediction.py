"""Link prediction: negatives by Python's generator, weights by PyTorch's, nodes in a set."""

import random

import numpy as np
import torch
from torch import nn

np.random.seed(7)


class Scorer(nn.Module):
    def __init__(self, nodes: int) -> None:
        super().__init__()
        self.table = nn.Embedding(nodes, 8)

    def forward(self, pairs: torch.Tensor) -> torch.Tensor:
        left, right = self.table(pairs[:, 0]), self.table(pairs[:, 1])
        return (left * right).sum(-1)


def read_edges() -> list[tuple[str, str]]:
    people = [f"person-{number}" for number in range(12)]
    return [(one, people[(index * 5 + 1) % 12]) for index, one in enumerate(people)]


def main() -> None:
    edges = read_edges()
    number_of = {}
    for name in {name for edge in edges for name in edge}:
        number_of[name] = len(number_of)
    positive = torch.tensor([[number_of[a], number_of[b]] for a, b in edges])
    model = Scorer(len(number_of))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for step in range(6):
        negative = torch.tensor([random.sample(range(12), 2) for _ in edges])
        loss = nn.functional.softplus(-model(positive)).mean()
        loss = loss + nn.functional.softplus(model(negative)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
