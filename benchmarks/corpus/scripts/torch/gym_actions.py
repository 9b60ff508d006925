"""Planted: the space of actions has a generator of its own, which a seeded reset does not reach."""

import random

import gymnasium as gym
import torch
from torch import nn


class QNet(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, 32), nn.ReLU(), nn.Linear(32, actions))

    def forward(self, x):
        return self.body(x)


def goal_of(net, rewards, following):
    with torch.no_grad():
        return rewards + 0.99 * net(following).max(1).values


def train(seed=1, steps=60):
    random.seed(seed)
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1")
    net = QNet(env.observation_space.shape[0], env.action_space.n)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    memory = []
    state, _ = env.reset(seed=seed)
    for step in range(steps):
        explores = random.random() < max(0.1, 1 - step / steps)
        action = env.action_space.sample() if explores else net(torch.as_tensor(state)).argmax().item()
        following, reward, ended, cut, _ = env.step(action)
        memory.append((torch.as_tensor(state), torch.tensor(action), torch.tensor(reward), torch.as_tensor(following)))
        state = env.reset()[0] if ended or cut else following
        if len(memory) < 32:
            continue
        states, actions, rewards, nexts = map(torch.stack, zip(*random.sample(memory, 16), strict=True))
        loss = nn.functional.mse_loss(net(states).gather(1, actions[:, None])[:, 0], goal_of(net, rewards, nexts))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train()
