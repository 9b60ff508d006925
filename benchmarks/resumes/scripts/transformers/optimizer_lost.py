"""Only the model is saved (`save_only_model`)."""

import glob
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

SAVE_AT = 3


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


class Save(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        control.should_save = state.global_step == SAVE_AT
        return control


set_seed(0)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    num_train_epochs=4,
    learning_rate=1e-2,
    seed=0,
    use_cpu=True,
    report_to="none",
    save_strategy="no",
    logging_strategy="no",
    disable_tqdm=True,
    save_only_model=True,
)
trainer = Trainer(
    model=Model(), args=arguments, train_dataset=Points(), callbacks=[Save()]
)
trainer.train(resume_from_checkpoint=bool(glob.glob("out/checkpoint-*")))
