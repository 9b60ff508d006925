"""The fix of reported_reset_drops_seed.py: reset() of the environment hands the seed to Gymnasium."""

import numpy as np
import torch
from modules.aviary_with_seed import HoverAviary
from torch import nn


class Critic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return self.net(observation).squeeze(-1)


def rollout(env: HoverAviary, rng: np.random.Generator, seed: int | None) -> tuple[torch.Tensor, torch.Tensor]:
    observation, _ = env.reset(seed=seed)
    observations, rewards, cut = [], [], False
    while not cut:
        observations.append(observation)
        observation, reward, _, cut, _ = env.step(rng.uniform(-1, 1, size=2))
        rewards.append(reward)
    return torch.from_numpy(np.stack(observations)), torch.tensor(rewards, dtype=torch.float32)


def main(seed: int = 42, episodes: int = 8) -> None:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    env, critic = HoverAviary(), Critic()
    optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
    for episode in range(episodes):
        observations, rewards = rollout(env, rng, seed if episode == 0 else None)
        loss = nn.functional.smooth_l1_loss(critic(observations), rewards)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
