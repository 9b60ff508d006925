import sys

import torch
from torch import nn
from tracker import EMATracker


def train(resume=None, epochs=6):
    torch.manual_seed(4)
    net = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 6))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    ema = EMATracker(net)
    first = 0
    if resume:
        ckpt = torch.load(resume)
        net.load_state_dict(ckpt["net"])
        optimizer.load_state_dict(ckpt["optimizer"])
        ema.set_state(ckpt["ema"])
        first = ckpt["epoch"]
    ocean = torch.randn(32, 6, generator=torch.Generator().manual_seed(9))
    for epoch in range(first, epochs):
        for now in ocean.split(8):
            loss = (net(now) - now.roll(1, 0)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema(net)
        torch.save(
            {
                "net": net.state_dict(),
                "optimizer": optimizer.state_dict(),
                "ema": ema.get_state(),
                "epoch": epoch + 1,
            },
            "ckpt.pt",
        )


if __name__ == "__main__":
    train(sys.argv[2] if "--resume" in sys.argv else None)
