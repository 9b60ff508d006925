import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main(seed=5, epochs=3, path="model.pt"):
    torch.manual_seed(seed)
    genes = torch.randn(64, 5, generator=torch.Generator().manual_seed(1))
    model = nn.Linear(5, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loader = DataLoader(TensorDataset(genes), batch_size=4, shuffle=True)
    start_epoch = resume_step = 0
    if os.path.exists(path):
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["rng"])
        start_epoch, resume_step = saved["epoch"], saved["step"]
    for epoch in range(start_epoch, epochs):
        for step, (x,) in enumerate(loader):
            if epoch == start_epoch and step < resume_step:
                continue
            loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 5 == 4:
                state = {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "epoch": epoch,
                    "step": step + 1,
                    "rng": torch.get_rng_state(),
                }
                torch.save(state, path)


if __name__ == "__main__":
    main()
