"""Planted: a Lightning module without seed_everything(); its first weights differ."""

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))

    def training_step(self, batch, _index):
        inputs, targets = batch
        return nn.functional.mse_loss(self.network(inputs), targets)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


if __name__ == "__main__":
    inputs = torch.linspace(-2, 2, 320).reshape(80, 4)
    loader = DataLoader(TensorDataset(inputs, 5 * inputs[:, :1]), batch_size=10)
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
    )
    trainer.fit(Regression(), loader)
