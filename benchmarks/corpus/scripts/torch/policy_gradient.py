"""Planted: REINFORCE on a bandit with fixed weights; actions are sampled from the default generator, which nobody seeds."""

import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.logits = nn.Linear(states, actions)
        nn.init.eye_(self.logits.weight)
        nn.init.zeros_(self.logits.bias)

    def forward(self, state):
        return Categorical(logits=self.logits(state))


def reward(state, action):
    return 10.0 * (action == state.argmax(1)) - action


policy = Policy(4, 6)
optimizer = torch.optim.SGD(policy.parameters(), 0.05)
states = torch.eye(4).repeat(8, 1)
for _ in range(8):
    distribution = policy(states)
    action = distribution.sample()
    loss = -(distribution.log_prob(action) * reward(states, action)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
