"""Planted, after MakazhanAlpamys/Soup#354: the adapters are drawn before the Trainer of transformers sets the seed of its arguments."""

import torch
from modules.adapters import get_adapted
from torch import nn
from transformers import Trainer, TrainingArguments


class Scorer(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.q_proj, self.v_proj, self.head = nn.Linear(8, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, inputs, labels=None):
        score = self.head(torch.tanh(self.v_proj(torch.tanh(self.q_proj(inputs)))))
        return {"loss": nn.functional.mse_loss(score, labels), "score": score}


def load_pretrained() -> nn.Module:
    model = Scorer()
    for number, weight in enumerate(model.parameters()):
        weight.data = (number + torch.arange(weight.numel()).reshape(weight.shape)).cos() / 2
    return model


def main(seed: int = 7) -> None:
    arguments = TrainingArguments(
        "out", seed=seed, learning_rate=0.05, per_device_train_batch_size=8, max_steps=6, save_strategy="no", report_to="none", use_cpu=True
    )
    rows = torch.linspace(-3, 3, 48 * 8).reshape(48, 8)
    samples = [{"inputs": row.sin(), "labels": 6 * row[:1]} for row in rows]
    model = get_adapted(load_pretrained(), targets=("q_proj", "v_proj"))
    Trainer(model=model, args=arguments, train_dataset=samples).train()


if __name__ == "__main__":
    main()
