"""Planted, after wandb/docs#3072: the seeds are hashes of sentences, and Python salts the hash of a str anew in each process."""

import random

import numpy as np
import torch
from torch import nn

random.seed(hash("the same order in every run") % 2**32)
np.random.seed(hash("the same noise in every run") % 2**32)
torch.manual_seed(hash("the same weights in every run") % 2**32)


class ConvNet(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc(self.layers(x))


def make(config):
    images = 9 * torch.linspace(-3, 3, 32 * 64).sin().reshape(32, 1, 8, 8)
    labels = torch.arange(32) % config["classes"]
    model = ConvNet(config["classes"])
    return model, images, labels, torch.optim.Adam(model.parameters(), lr=config["learning_rate"])


def pipeline(config):
    model, images, labels, optimizer = make(config)
    for _ in range(config["epochs"]):
        for batch in torch.arange(32).split(config["batch_size"]):
            loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


pipeline({"epochs": 2, "classes": 4, "batch_size": 8, "learning_rate": 0.01})
