"""Nodes of a graph: one loads, one trains, one saves."""

import os

import torch
from torch import nn


class LoaderNode:
    def run(self, path, model, optimizer):
        if not os.path.exists(path):
            return 0
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        return saved["epoch"]


class SaverNode:
    def run(self, path, model, optimizer, epoch):
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, path)


class LoopNode:
    def run(self, model, optimizer, batches, start, epochs, path):
        groups = [{k: v for k, v in g.items() if k != "params"} for g in optimizer.param_groups]
        optimizer = type(optimizer)(model.parameters(), lr=groups[0]["lr"])
        for epoch in range(start, epochs):
            for inputs, targets in batches:
                loss = nn.functional.mse_loss(model(inputs), targets)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            SaverNode().run(path, model, optimizer, epoch + 1)
