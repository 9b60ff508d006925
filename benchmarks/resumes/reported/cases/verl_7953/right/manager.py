"""Saves all of a training, and loads what it is told to."""

import os

import torch


class CheckpointManager:
    def __init__(self, model, optimizer, lr_scheduler, use_checkpoint_opt_param_scheduler=True):
        self.model = model
        self.optimizer = optimizer
        self.lr_scheduler = lr_scheduler
        self.use_checkpoint_opt_param_scheduler = use_checkpoint_opt_param_scheduler

    def _build_optimizer_state_dict(self):
        state_dict = {"optimizer": self.optimizer.state_dict()}
        if self.lr_scheduler is not None:
            state_dict["lr_scheduler"] = self.lr_scheduler.state_dict()
        return state_dict

    def save_checkpoint(self, path, step):
        os.makedirs(path, exist_ok=True)
        state = {
            "model": self.model.state_dict(),
            **self._build_optimizer_state_dict(),
            "step": step,
        }
        torch.save(state, os.path.join(path, "dist.pt"))

    def load_checkpoint(self, path):
        loaded = torch.load(os.path.join(path, "dist.pt"))
        self.model.load_state_dict(loaded["model"])
        self.optimizer.load_state_dict(loaded["optimizer"])
        if self.use_checkpoint_opt_param_scheduler:
            self.lr_scheduler.load_state_dict(loaded["lr_scheduler"])
        return loaded["step"]
