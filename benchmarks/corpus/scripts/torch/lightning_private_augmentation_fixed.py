"""The fix of lightning_private_augmentation.py: the dataset's generator has a seed."""

import lightning
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return 80

    def __getitem__(self, index):
        clean = np.sin(np.arange(6) + index)
        return torch.tensor(clean + self.rng.normal(scale=2, size=6)).float(), torch.tensor(clean).float()


class Denoise(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 6))

    def training_step(self, batch, _index):
        noisy, clean = batch
        return nn.functional.mse_loss(8 * self.network(noisy), clean)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    lightning.seed_everything(0)
    loader = DataLoader(Noisy(0), batch_size=8)
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
    )
    trainer.fit(Denoise(), loader)
