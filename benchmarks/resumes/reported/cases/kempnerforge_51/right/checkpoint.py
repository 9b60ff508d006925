"""Checkpoints of a run: what is given to `save` comes back from `load`."""

from pathlib import Path

import torch


class CheckpointManager:
    def __init__(self, folder, model, optimizer):
        self.folder = Path(folder)
        self.model, self.optimizer = model, optimizer
        self.dataloader_state = None

    def save(self, step, scheduler=None, dataloader=None):
        target = self.folder / f"step_{step}"
        target.mkdir(parents=True, exist_ok=True)
        train_state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": step,
        }
        if scheduler is not None:
            train_state["scheduler"] = scheduler.state_dict()
        if dataloader is not None:
            train_state["dataloader"] = dataloader.state_dict()
        torch.save(train_state, target / "train_state.pt")

    def load(self, scheduler=None):
        steps = sorted(self.folder.glob("step_*"), key=lambda path: int(path.name[5:]))
        if not steps:
            return 0
        train_state = torch.load(steps[-1] / "train_state.pt", weights_only=False)
        self.model.load_state_dict(train_state["model"])
        self.optimizer.load_state_dict(train_state["optimizer"])
        scheduler.load_state_dict(train_state["scheduler"])
        self.dataloader_state = train_state.get("dataloader")
        return train_state["step"]
