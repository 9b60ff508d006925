"""Problems to sample from, for reported_rollout_buffer.py; the samples come from the random module as it is."""

import random
from dataclasses import dataclass, field


@dataclass
class Buffer:
    problems: list[list[int]]
    done: set[int] = field(default_factory=set)

    def sample_problems(self, count: int) -> list[list[int]]:
        available = [number for number in range(len(self.problems)) if number not in self.done]
        chosen = random.sample(available, count)
        self.done.update(chosen)
        return [self.problems[number] for number in chosen]
