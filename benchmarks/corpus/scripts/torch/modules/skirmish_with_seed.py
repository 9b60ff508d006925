"""A small battle for reported_environment_rng_fixed.py; where its units stand follows the global seed of NumPy."""

import numpy as np
from numpy.random import default_rng


class SurroundedPositions:
    def __init__(self, units: int, width: float) -> None:
        self.units, self.width = units, width
        self.rng = default_rng(seed=np.random.randint(9999999))

    def generate(self) -> np.ndarray:
        return self.rng.uniform(-self.width, self.width, size=(self.units, 2))


class Skirmish:
    def __init__(self, units: int = 4, width: float = 2.0, limit: int = 8) -> None:
        self.distribution = SurroundedPositions(units, width)
        self.limit = limit

    def reset(self) -> np.ndarray:
        self.time, self.positions = 0, self.distribution.generate()
        return self.positions.ravel().astype(np.float32)

    def step(self, action: int) -> tuple[np.ndarray, float, bool]:
        self.time += 1
        self.positions = self.positions + (0.3 if action else -0.3)
        reward = -float(np.abs(self.positions).mean())
        return self.positions.ravel().astype(np.float32), reward, self.time == self.limit
