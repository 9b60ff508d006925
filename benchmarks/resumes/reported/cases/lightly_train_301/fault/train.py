import argparse
import os

import torch
from state import TrainState
from torch import nn


class TwoStages(torch.optim.lr_scheduler.LRScheduler):
    """A warm-up, then a polynomial."""

    def __init__(self, optimizer, warmup, steps):
        self.warmup, self.steps = warmup, steps
        super().__init__(optimizer)

    def get_lr(self):
        step = self.last_epoch
        if step < self.warmup:
            factor = (step + 1) / self.warmup
        else:
            factor = (1 - (step - self.warmup) / (self.steps - self.warmup)) ** 0.9
        return [base * factor for base in self.base_lrs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="out")
    parser.add_argument("--resume-interrupted", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Linear(8, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = TwoStages(optimizer, 6, 24)
    state = TrainState(model, optimizer)
    path = os.path.join(args.out, "last.ckpt")
    if args.resume_interrupted:
        checkpoint = torch.load(path)
        state.load_state_dict(checkpoint)
    images = torch.randn(24, 16, 8, generator=torch.Generator().manual_seed(1))
    for step in range(state.step, 24):
        loss = nn.functional.cross_entropy(model(images[step]), images[step, :, :3].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        state.step = step + 1
        if state.step % 8 == 0:
            os.makedirs(args.out, exist_ok=True)
            torch.save(state.state_dict(), path)


if __name__ == "__main__":
    main()
