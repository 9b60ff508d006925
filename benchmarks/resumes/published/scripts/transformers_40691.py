"""Stops in the second epoch, and goes on with `resume_from_checkpoint=True`."""

import glob
import os

os.environ.update(HF_HUB_OFFLINE="1", USE_TF="0", USE_FLAX="0")

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed


class Points(Dataset):
    def __init__(self):
        self.x = torch.randn(40, 8, generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return 40

    def __getitem__(self, index):
        return {"inputs": self.x[index], "labels": self.x[index].sum()}


class Model(nn.Module):
    _keys_to_ignore_on_save = None

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, inputs, labels):
        return {"loss": nn.functional.mse_loss(self.layers(inputs)[:, 0], labels)}


set_seed(0)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    num_train_epochs=4,
    learning_rate=1e-2,
    seed=0,
    use_cpu=True,
    report_to="none",
    save_strategy="steps",
    save_steps=8,
    logging_strategy="no",
    disable_tqdm=True,
)
trainer = Trainer(model=Model(), args=arguments, train_dataset=Points())
trainer.train(resume_from_checkpoint=bool(glob.glob("out/checkpoint-*")))
