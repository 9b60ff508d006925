"""Planted, after datawhalechina/learn-world-model#12: the data set takes a seed, and its helper draws each image from a default_rng() of its own."""

import torch
from modules.shapes import DiscDataset
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader


class VAE(nn.Module):
    def __init__(self, pixels: int, latent: int) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 32), nn.ReLU(), nn.Linear(32, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, pixels))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean, spread = self.encoder(x).chunk(2, dim=-1)
        latent = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        return self.decoder(latent), mean, spread


def loss_of(logits, x, mean, spread):
    reconstruction = functional.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1)
    divergence = -0.5 * (1 + spread - mean**2 - spread.exp()).sum(-1)
    return (reconstruction + divergence).mean()


def main() -> None:
    torch.manual_seed(42)
    loader = DataLoader(DiscDataset(64), batch_size=16, shuffle=True)
    model = VAE(pixels=144, latent=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(2):
        for batch in loader:
            logits, mean, spread = model(batch)
            loss = loss_of(logits, batch, mean, spread)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
