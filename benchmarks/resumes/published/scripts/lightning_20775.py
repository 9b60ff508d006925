"""Stops at the end of an epoch; the model puts the generator back from which the order is drawn."""

import logging
import os
import warnings

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def training_step(self, batch, number):
        inputs, targets = batch
        return nn.functional.mse_loss(self.layers(inputs), targets)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 0.01)

    def on_save_checkpoint(self, checkpoint):
        checkpoint["generator"] = torch.get_rng_state()

    def on_load_checkpoint(self, checkpoint):
        torch.set_rng_state(checkpoint["generator"])


lightning.seed_everything(0)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
trainer = lightning.Trainer(
    max_epochs=4,
    accelerator="cpu",
    devices=1,
    callbacks=[ModelCheckpoint("checkpoints", save_last=True)],
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
last = "checkpoints/last.ckpt"
trainer.fit(Model(), loader, ckpt_path=last if os.path.exists(last) else None)
