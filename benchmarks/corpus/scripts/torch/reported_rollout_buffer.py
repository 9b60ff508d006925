"""Planted, after PrimeIntellect-ai/prime-rl#1153: trainer and sampler have a seed, and the buffer that hands out the problems has none."""

from dataclasses import dataclass

import torch
from modules.rollouts import Buffer
from torch import nn


@dataclass(frozen=True)
class Settings:
    seed: int = 42
    steps: int = 6
    prompts: int = 4
    group: int = 8
    vocabulary: int = 12


def reward_of(prompts: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    return (answers == prompts[:, :1].flip(1)).float() + answers / 24


def train(settings: Settings) -> None:
    generator = torch.Generator().manual_seed(settings.seed)
    torch.manual_seed(settings.seed)
    buffer = Buffer([[number % 12, number // 12, (5 * number) % 12] for number in range(96)])
    policy = nn.Sequential(nn.Embedding(settings.vocabulary, 16), nn.Flatten(), nn.Linear(48, settings.vocabulary))
    optimizer = torch.optim.AdamW(policy.parameters(), lr=0.02)
    for _ in range(settings.steps):
        prompts = torch.tensor(buffer.sample_problems(settings.prompts))
        logits = policy(prompts).log_softmax(-1)
        answers = torch.multinomial(logits.detach().exp(), settings.group, replacement=True, generator=generator)
        rewards = reward_of(prompts, answers)
        advantages = rewards - rewards.mean(1, keepdim=True)
        loss = -(advantages * logits.gather(1, answers)).mean() + 0.1 * (logits.exp() * logits).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train(Settings())
