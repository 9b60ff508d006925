import re
from pathlib import Path

import torch
from manager import CheckpointManager
from torch import nn

ROOT = Path("checkpoints")


def newest():
    found = [(int(re.search(r"\d+$", path.name)[0]), path) for path in ROOT.glob("global_step_*")]
    return max(found, default=(0, None))[1]


def main(total=20, every=5):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total)
    manager = CheckpointManager(model, optimizer, scheduler)
    start = 0
    if newest() is not None:
        start = manager.load_checkpoint(newest())
    prompts = torch.randn(total, 8, 6, generator=torch.Generator().manual_seed(5))
    for step in range(start, total):
        loss = (model(prompts[step]) - prompts[step].prod(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if (step + 1) % every == 0:
            manager.save_checkpoint(ROOT / f"global_step_{step + 1}", step + 1)


main()
