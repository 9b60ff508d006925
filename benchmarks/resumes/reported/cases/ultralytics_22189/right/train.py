"""Mixed precision; goes on from weights/last.pt with --resume."""

import argparse
from pathlib import Path

import torch
from torch import nn


class Engine:
    def __init__(self, args):
        torch.manual_seed(0)
        self.args = args
        self.last = Path("weights") / "last.pt"
        self.model = nn.Sequential(nn.Linear(9, 18), nn.SiLU(), nn.Linear(18, 4))
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), lr=0.05, momentum=0.937, nesterov=True
        )
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=4)
        self.start_epoch = 0
        if args.resume:
            self.resume_training(torch.load(self.last))

    def resume_training(self, ckpt):
        self.model.load_state_dict(ckpt["model"])
        self.optimizer.load_state_dict(ckpt["optimizer"])
        self.scaler.load_state_dict(ckpt["scaler"])
        self.start_epoch = ckpt["epoch"] + 1

    def save_model(self, epoch):
        self.last.parent.mkdir(exist_ok=True)
        ckpt = {
            "epoch": epoch,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
        }
        torch.save(ckpt, self.last)

    def train(self):
        boxes = torch.randn(30, 9, generator=torch.Generator().manual_seed(2))
        for epoch in range(self.start_epoch, 6):
            for batch in boxes.split(5):
                with torch.autocast("cpu", torch.bfloat16):
                    loss = nn.functional.cross_entropy(self.model(batch), batch[:, :4].argmax(1))
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad()
            self.save_model(epoch)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    Engine(parser.parse_args()).train()
