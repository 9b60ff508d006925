"""Planted, after Adit-Jain-srm/NightmareNet#64: the seed of the configuration reaches the distortions of the data, and never PyTorch."""

import random
import tomllib
from pathlib import Path

from modules.nights import NightTrainer

CONFIG = Path(__file__).parent / "modules" / "night.toml"
WORDS = ["calm", "mild", "kind", "warm", "grim", "dark", "cold", "harm"]


class Distortion:
    def __init__(self, strength: float, seed: int) -> None:
        self.strength, self.rng = strength, random.Random(seed)

    def apply(self, word: str) -> str:
        letters = [self.rng.choice("xyz") if self.rng.random() < self.strength else letter for letter in word]
        return "".join(letters)


def run(config: dict) -> list[float]:
    distortion = Distortion(config["noise"], config["seed"])
    trainer = NightTrainer(config)
    labels = [int(number >= 4) for number in range(len(WORDS))]
    losses = []
    for _cycle in range(config["epochs"]):
        losses.append(trainer.train_cycle(WORDS, labels))
        losses.append(trainer.train_cycle([distortion.apply(word) for word in WORDS], labels))
    return losses


if __name__ == "__main__":
    print(run(tomllib.loads(CONFIG.read_text())))
