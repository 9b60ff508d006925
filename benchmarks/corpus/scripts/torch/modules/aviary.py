"""A drone that has to hover, for reported_reset_drops_seed.py; its reset() takes a seed and keeps it to itself."""

import gymnasium
import numpy as np


class HoverAviary(gymnasium.Env):
    def __init__(self, steps: int = 12) -> None:
        self.observation_space = gymnasium.spaces.Box(-10, 10, (4,), dtype=np.float32)
        self.action_space = gymnasium.spaces.Box(-1, 1, (2,), dtype=np.float32)
        self.steps = steps

    def reset(self, seed: int | None = None, options: dict | None = None):
        self.count = 0
        self.position = self.np_random.uniform(-2, 2, size=2)
        self.velocity = np.zeros(2)
        return self.observe(), {}

    def observe(self) -> np.ndarray:
        return np.concatenate([self.position, self.velocity]).astype(np.float32)

    def step(self, action: np.ndarray):
        self.count += 1
        self.velocity = 0.9 * self.velocity + 0.3 * np.clip(action, -1, 1)
        self.position = self.position + self.velocity
        return self.observe(), -float((self.position**2).sum()), False, self.count >= self.steps, {}
