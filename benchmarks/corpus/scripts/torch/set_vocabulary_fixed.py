"""The fix of set_vocabulary.py: the vocabulary is sorted."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

TEXT = "the runs of a script with a seed and with no other change gave the same curve of a loss as the runs of the other one"


class Windows(Dataset):
    def __init__(self, words, length):
        vocabulary = sorted(set(words))
        ids = {word: index for index, word in enumerate(vocabulary)}
        self.stream = torch.tensor([ids[word] for word in words * 4])
        self.length, self.size = length, len(ids)

    def __len__(self):
        return len(self.stream) - self.length

    def __getitem__(self, index):
        return self.stream[index : index + self.length], self.stream[index + self.length]


torch.manual_seed(0)
dataset = Windows(TEXT.split(), 4)
model = nn.Sequential(nn.Embedding(dataset.size, 10), nn.Flatten(), nn.Linear(40, dataset.size))
optimizer = torch.optim.Adagrad(model.parameters(), 0.05)
for context, following in DataLoader(dataset, 10):
    loss = nn.functional.cross_entropy(3 * model(context), following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
