"""Planted: the model is built above the `Trainer` of transformers, which sets its seed only then; the first weights differ."""

import torch
from torch import nn
from transformers import Trainer, TrainingArguments


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 12)
        self.out = nn.Linear(12, 1)

    def forward(self, inputs, labels=None):
        return {"loss": nn.functional.mse_loss(self.out(torch.tanh(self.hidden(inputs))), labels)}


def main():
    rows = torch.linspace(-2, 2, 240).reshape(40, 6)
    samples = [{"inputs": row, "labels": 5 * row[:1]} for row in rows]
    options = {"per_device_train_batch_size": 8, "max_steps": 6, "save_strategy": "no", "report_to": "none", "use_cpu": True}
    model = Regression()
    arguments = TrainingArguments("out", seed=1234, **options)
    Trainer(model=model, args=arguments, train_dataset=samples).train()


if __name__ == "__main__":
    main()
