"""A bag of hashed words: buckets by `hash`, weights and dropout without a seed, files by folder."""

import torch
from torch import nn

TEXTS = (
    ("the loss goes down", 1),
    ("the loss goes up", 0),
    ("gradients are finite", 1),
    ("gradients are not a number", 0),
    ("weights agree in every bit", 1),
    ("weights differ from run to run", 0),
)
BUCKETS = 64


def bucket(word: str) -> int:
    return hash(word) % BUCKETS


class Bag(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(BUCKETS, 16)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return self.head(self.drop(self.words(tokens, offsets)))


def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    tokens, offsets = [], []
    for text, _ in TEXTS:
        offsets.append(len(tokens))
        tokens += [bucket(word) for word in text.split()]
    labels = torch.tensor([label for _, label in TEXTS])
    return torch.tensor(tokens), torch.tensor(offsets), labels


def main() -> None:
    model = Bag()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    tokens, offsets, labels = batch()
    for step in range(8):
        loss = nn.functional.cross_entropy(model(tokens, offsets), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, round(loss.item(), 4))


main()
