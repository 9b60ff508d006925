"""Q-learning: an environment, a replay buffer and an exploration, each with its own randomness."""

import os
import random
from collections import deque

import numpy as np
import torch
from torch import nn


class Drift:
    """A walk on a line with wind."""

    def __init__(self) -> None:
        self.wind = np.random.default_rng()
        self.place = 0.0

    def reset(self) -> float:
        self.place = 0.0
        return self.place

    def step(self, action: int) -> tuple[float, float]:
        self.place += (action - 0.5) * 0.4 + self.wind.normal() * 0.1
        return self.place, -abs(self.place)


class Agent:
    def __init__(self) -> None:
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 2))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)
        self.explore = random.Random()

    def act(self, state: float) -> int:
        if self.explore.random() < 0.3:
            return self.explore.randrange(2)
        return int(self.net(torch.tensor([state])).argmax())

    def learn(self, batch: list[tuple[float, int, float, float]]) -> float:
        states = torch.tensor([[row[0]] for row in batch])
        actions = torch.tensor([[row[1]] for row in batch])
        rewards = torch.tensor([row[2] for row in batch])
        following = torch.tensor([[row[3]] for row in batch])
        with torch.no_grad():
            target = rewards + 0.9 * self.net(following).max(-1).values
        value = self.net(states).gather(1, actions).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main() -> None:
    torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
    environment, agent = Drift(), Agent()
    memory: deque[tuple[float, int, float, float]] = deque(maxlen=64)
    state = environment.reset()
    for step in range(60):
        action = agent.act(state)
        following, reward = environment.step(action)
        memory.append((state, action, reward, following))
        state = following
        if step >= 15 and step % 4 == 0:
            print(step, agent.learn(list(memory)[-16:]))


if __name__ == "__main__":
    main()
