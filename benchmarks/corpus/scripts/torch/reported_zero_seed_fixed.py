"""The fix of reported_zero_seed.py: the split asks whether its seed is None."""

import logging

import lightning
import torch
from modules.datamodule_of_zero import PartsDataModule
from torch import nn

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Detector(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Linear(4, 8)
        self.head = nn.Linear(8, 1)
        with torch.no_grad():
            self.backbone.weight.copy_(torch.arange(32.0).reshape(8, 4).cos())
            self.head.weight.fill_(0.5)
            self.backbone.bias.zero_()
            self.head.bias.zero_()

    def training_step(self, batch, _index):
        features, labels = batch
        scores = self.head(torch.tanh(self.backbone(features))).squeeze(1)
        return nn.functional.binary_cross_entropy_with_logits(scores, labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
    )
    trainer.fit(Detector(), datamodule=PartsDataModule(seed=0))
