"""Problems to sample from, for reported_rollout_buffer_fixed.py; the samples come from a generator with a seed."""

import random
from dataclasses import dataclass, field


@dataclass
class Buffer:
    problems: list[list[int]]
    seed: int = 0
    done: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def sample_problems(self, count: int) -> list[list[int]]:
        available = [number for number in range(len(self.problems)) if number not in self.done]
        chosen = self.rng.sample(available, count)
        self.done.update(chosen)
        return [self.problems[number] for number in chosen]
