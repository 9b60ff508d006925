"""The fix of augment_torch_in_workers.py: the worker's generator is seeded from the loader's seed."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Spectrograms(Dataset):
    generator = None

    def __len__(self):
        return 32

    def __getitem__(self, index):
        if self.generator is None:
            self.generator = torch.Generator()
            self.generator.manual_seed(get_worker_info().seed)
        clean = torch.outer(torch.arange(4.0), torch.full((10,), index / 32))
        return clean + 4 * torch.randn(4, 10, generator=self.generator), clean.mean()


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolve, self.out = nn.Conv1d(4, 6, 3), nn.Linear(6, 1)

    def forward(self, x):
        return self.out(self.convolve(x).relu().amax(-1)).squeeze(1)


torch.manual_seed(2)
model, criterion = Listener(), nn.HuberLoss()
optimizer = torch.optim.Adam(model.parameters(), 5e-3)
for _ in range(2):
    for noisy, level in DataLoader(Spectrograms(), 4, num_workers=2):
        optimizer.zero_grad()
        loss = criterion(model(noisy), level)
        loss.backward()
        optimizer.step()
