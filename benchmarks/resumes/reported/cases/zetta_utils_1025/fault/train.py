"""Trains in chunks of iterations; writes run/step_N.pt."""

import argparse
from pathlib import Path

import torch
from torch import nn


def load(path, net, optimizer):
    state = torch.load(path)
    net.load_state_dict(state["state_dict"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["rng"])
    return state["step"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=24)
    parser.add_argument("--checkpoint-path", help="a checkpoint to go on from")
    args = parser.parse_args()
    torch.manual_seed(11)
    net = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    done = 0
    if args.checkpoint_path:
        done = load(args.checkpoint_path, net, optimizer)
    Path("run").mkdir(exist_ok=True)
    for iteration in range(args.iterations - done):
        volume = torch.randn(6, 4)
        loss = (net(volume) - volume.norm(dim=1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step = iteration + 1
        if step % 5 == 0:
            state = {
                "state_dict": net.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": step,
                "rng": torch.get_rng_state(),
            }
            torch.save(state, f"run/step_{step}.pt")


if __name__ == "__main__":
    main()
