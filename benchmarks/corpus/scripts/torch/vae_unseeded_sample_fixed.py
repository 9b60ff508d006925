"""The fix of vae_unseeded_sample.py: the default generator is seeded."""

import torch
from torch import nn

torch.manual_seed(8)


class Reparameterise(nn.Module):
    def forward(self, mean, log_variance):
        return mean + torch.randn_like(mean) * (0.5 * log_variance).exp()


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.sample, self.decode = nn.Linear(12, 8), Reparameterise(), nn.Linear(4, 12)

    def forward(self, x):
        mean, log_variance = self.encode(x).chunk(2, -1)
        return self.decode(self.sample(mean, log_variance)), mean, log_variance


def elbo(x, output, mean, log_variance):
    kl = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
    return (x - output).pow(2).sum(1).mean() + kl


model, data = Vae(), torch.linspace(-1, 1, 360).reshape(30, 12).sin()
for parameter in model.parameters():
    nn.init.constant_(parameter, 0.3)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for _ in range(8):
    loss = elbo(data, *model(data))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
