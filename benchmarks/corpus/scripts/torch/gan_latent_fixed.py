"""The fix of gan_latent.py: the generator of the latent vectors has a seed."""

import torch
from torch import nn

torch.manual_seed(0)
latent = torch.Generator()
latent.manual_seed(1)
generator = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
step_g = torch.optim.Adam(generator.parameters(), 2e-3, betas=(0.5, 0.999))
step_d = torch.optim.Adam(discriminator.parameters(), 2e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(24, 1), torch.zeros(24, 1)
for _ in range(6):
    angle = torch.rand(24, 1) * 6.283
    real = torch.cat([angle.cos(), angle.sin()], 1)
    fake = generator(3 * torch.randn(24, 2, generator=latent))
    step_d.zero_grad()
    loss_d = bce(8 * discriminator(real), ones) + bce(8 * discriminator(fake.detach()), zeros)
    loss_d.backward()
    step_d.step()
    step_g.zero_grad()
    loss_g = bce(8 * discriminator(fake), ones)
    loss_g.backward()
    step_g.step()
