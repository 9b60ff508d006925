"""A callback puts the generator back when the first batch is there: the loader drew before, here and in the run that went on."""

import logging
import os
import warnings

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")
EPOCHS, SAVE_AT = 4, 5


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.ReLU())
        self.head = nn.Linear(16, 1)

    def training_step(self, batch, number):
        inputs, targets = batch
        return nn.functional.mse_loss(self.head(self.body(inputs)), targets)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), 0.01)
        rate = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        return [optimizer], [{"scheduler": rate, "interval": "step"}]


class Save(lightning.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        if trainer.global_step == SAVE_AT:
            trainer.save_checkpoint("last.ckpt")

    def on_save_checkpoint(self, trainer, module, checkpoint):
        checkpoint["rng"] = torch.get_rng_state()

    def on_load_checkpoint(self, trainer, module, checkpoint):
        self.rng = checkpoint["rng"]

    def on_train_batch_start(self, trainer, module, batch, number):
        if hasattr(self, "rng"):
            torch.set_rng_state(self.rng)
            del self.rng


class Order(torch.utils.data.Sampler):
    """Another order in each epoch, drawn from a seed and the number of the epoch."""

    def __init__(self, length):
        self.length, self.epoch = length, 0

    def __len__(self):
        return self.length

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.epoch)
        return iter(torch.randperm(self.length, generator=generator).tolist())


lightning.seed_everything(0, workers=True, verbose=False)
x = torch.randn(40, 8)
y = x.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=8, sampler=Order(40))
trainer = lightning.Trainer(
    max_epochs=EPOCHS,
    accelerator="cpu",
    devices=1,
    callbacks=[Save()],
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
model = Model()
last = "last.ckpt" if os.path.exists("last.ckpt") else None
trainer.fit(model, loader, ckpt_path=last)
