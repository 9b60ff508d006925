"""`ModelCheckpoint` saves in the middle of an epoch; the loader keeps its own position."""

import logging
import os
import warnings

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader

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


lightning.seed_everything(0, workers=True)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
loader = StatefulDataLoader(TensorDataset(x, y), batch_size=8)
trainer = lightning.Trainer(
    max_epochs=5,
    accelerator="cpu",
    devices=1,
    callbacks=[ModelCheckpoint("checkpoints", every_n_train_steps=3, save_last=True)],
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
last = "checkpoints/last.ckpt"
trainer.fit(Model(), loader, ckpt_path=last if os.path.exists(last) else None)
