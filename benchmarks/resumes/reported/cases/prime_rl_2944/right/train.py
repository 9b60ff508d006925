from pathlib import Path

import torch
from packing import CatDataset, Texts
from torch import nn

CKPT = Path("ckpt") / "state.pt"


def batches(dataset, rows=3):
    held = []
    for row in dataset:
        held.append(row)
        if len(held) == rows:
            yield torch.stack(held)
            held = []


def main(steps=18):
    torch.manual_seed(0)
    dataset = CatDataset(Texts())
    model = nn.Sequential(nn.Embedding(30, 8), nn.Linear(8, 30))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    step = 0
    if CKPT.exists():
        saved = torch.load(CKPT)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        dataset.load_state_dict(saved["dataset"])
        step = saved["step"]
    for tokens in batches(dataset):
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 4 == 0:
            CKPT.parent.mkdir(exist_ok=True)
            torch.save(
                {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "dataset": dataset.state_dict(),
                    "step": step,
                },
                CKPT,
            )
        if step == steps:
            break


if __name__ == "__main__":
    main()
