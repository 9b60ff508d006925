"""The fix of private_noise_layer.py: the layer's generator has a seed."""

import numpy as np
import torch
from torch import nn


class GaussianNoise(nn.Module):
    def __init__(self, scale, seed=0):
        super().__init__()
        self.scale = scale
        self.rng = np.random.default_rng(seed)

    def forward(self, x):
        if not self.training:
            return x
        return x + self.scale * torch.from_numpy(self.rng.standard_normal(x.shape, dtype=np.float32))


torch.manual_seed(1)
np.random.seed(1)
encoder = nn.Sequential(nn.Linear(10, 6), GaussianNoise(2.0), nn.ReLU())
decoder = nn.Sequential(nn.Linear(6, 10))
autoencoder = nn.Sequential(encoder, decoder)
signals = torch.randn(32, 10)
optimizer = torch.optim.Adam(autoencoder.parameters(), 1e-3)
for _ in range(8):
    reconstruction = autoencoder(signals)
    loss = nn.functional.mse_loss(reconstruction, signals)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
