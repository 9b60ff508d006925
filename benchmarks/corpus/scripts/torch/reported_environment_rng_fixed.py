"""The fix of reported_environment_rng.py: the generator of the environment takes its seed from the global one of NumPy."""

import random

import numpy as np
import torch
from modules.skirmish_with_seed import Skirmish
from torch import nn
from torch.distributions import Categorical


def seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def play(env: Skirmish, policy: nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
    state, ended, chosen, rewards = env.reset(), False, [], []
    while not ended:
        choice = Categorical(logits=policy(torch.from_numpy(state)))
        action = choice.sample()
        chosen.append(choice.log_prob(action))
        state, reward, ended = env.step(action.item())
        rewards.append(reward)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    return torch.stack(chosen), returns


def main() -> None:
    seed_all(3)
    env = Skirmish()
    policy = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=1e-2)
    for _episode in range(8):
        chosen, returns = play(env, policy)
        loss = -(chosen * returns).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
