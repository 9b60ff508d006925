"""A neural operator; goes on from checkpoints/recent.pt."""

from pathlib import Path

import torch
from torch import nn

RECENT = Path("checkpoints") / "recent.pt"


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(
            nn.Conv1d(1, 6, 3, padding=1), nn.GELU(), nn.Conv1d(6, 1, 3, padding=1)
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=5e-3)
        self.scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.1, total_iters=8)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=3)
        self.starting_epoch = 0

    def save(self, epoch):
        RECENT.parent.mkdir(exist_ok=True)
        torch.save(
            {
                "epoch": epoch,
                "model_state_dict": self.model.state_dict(),
                "optimizer_state_dict": self.optimizer.state_dict(),
                "scheduler": self.scheduler.state_dict(),
                "scaler": self.scaler.state_dict(),
            },
            RECENT,
        )

    def load(self):
        checkpoint = torch.load(RECENT, weights_only=False)
        self.model.load_state_dict(checkpoint["model_state_dict"])
        if "optimizer_state_dict" in checkpoint:
            self.optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
        self.scheduler.load_state_dict(checkpoint["scheduler"])
        self.scaler.load_state_dict(checkpoint["scaler"])
        self.starting_epoch = checkpoint["epoch"] + 1

    def train(self, fields, epochs=12):
        for epoch in range(self.starting_epoch, epochs):
            order = torch.randperm(len(fields), generator=torch.Generator().manual_seed(epoch))
            for chosen in order.split(16):
                start = fields[chosen]
                loss = nn.functional.mse_loss(self.model(start), start.roll(1, -1))
                self.optimizer.zero_grad()
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimizer)
                self.scaler.update()
            self.scheduler.step()
            self.save(epoch)


if __name__ == "__main__":
    torch.manual_seed(0)
    trainer = Trainer()
    fields = torch.randn(48, 1, 12, generator=torch.Generator().manual_seed(1))
    if RECENT.exists():
        trainer.load()
    trainer.train(fields)
