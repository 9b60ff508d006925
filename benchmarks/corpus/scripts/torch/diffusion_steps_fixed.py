"""The fix of diffusion_steps.py: manual_seed()."""

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time, self.inner, self.outer = nn.Embedding(50, 16), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, noisy, step):
        return self.outer(torch.relu(self.inner(noisy) + self.time(step)))


torch.manual_seed(0)
model, clean = Denoiser(), torch.randn(32, 8)
kept = torch.linspace(0.99, 0.01, 50)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
torch.manual_seed(1)
for _ in range(4):
    optimizer.zero_grad()
    for _micro in range(2):
        step, noise = torch.randint(0, 50, (32,)), torch.randn(32, 8)
        share = kept[step][:, None]
        loss = nn.functional.mse_loss(model(share.sqrt() * clean + (1 - share).sqrt() * noise, step), noise) / 2
        loss.backward()
    optimizer.step()
