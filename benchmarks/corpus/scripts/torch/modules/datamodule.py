"""Data for reported_zero_seed.py: a split with a seed, where 0 counts as no seed."""

import lightning
import torch
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset


def random_split(dataset: Dataset, share: float, seed: int | None = None) -> tuple[Subset, Subset]:
    generator = torch.Generator().manual_seed(seed) if seed else None
    order = torch.randperm(len(dataset), generator=generator).tolist()
    cut = int(share * len(dataset))
    return Subset(dataset, order[:cut]), Subset(dataset, order[cut:])


class PartsDataModule(lightning.LightningDataModule):
    def __init__(self, batch_size: int = 8, seed: int | None = None) -> None:
        super().__init__()
        self.batch_size, self.seed = batch_size, seed

    def setup(self, stage: str) -> None:
        steps = torch.arange(64.0)
        features = torch.stack([(steps / period).sin() for period in (3, 5, 7, 11)], dim=1)
        parts = TensorDataset(3 * features, (steps % 4 == 0).float())
        self.train_data, self.test_data = random_split(parts, 0.5, self.seed)

    def train_dataloader(self) -> DataLoader:
        return DataLoader(self.train_data, batch_size=self.batch_size)
