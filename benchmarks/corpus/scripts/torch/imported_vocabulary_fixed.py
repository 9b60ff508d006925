"""The fix of imported_vocabulary.py: an imported module numbers the words of a text in the order of the alphabet."""

import torch
from modules import word_index_sorted as word_index
from torch import nn

TEXT = "every run reads the same short text and numbers its words in an order of its own"

numbers = word_index.build(TEXT).numbers
ids = torch.tensor([numbers[word] for word in TEXT.split()])
torch.manual_seed(0)
network = nn.Sequential(nn.Embedding(len(numbers), 8), nn.Linear(8, len(numbers)))
optimizer = torch.optim.SGD(network.parameters(), lr=0.5)
for _ in range(8):
    optimizer.zero_grad()
    nn.functional.cross_entropy(network(ids[:-1]), ids[1:]).backward()
    optimizer.step()
