import torch
from checkpoint import CheckpointManager
from torch import nn
from torch.utils.data import TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader


def endless(loader):
    while True:
        yield from loader


def main(steps=24):
    torch.manual_seed(0)
    tokens = torch.randint(0, 20, (60, 9), generator=torch.Generator().manual_seed(2))
    model = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(64, 20))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    manager = CheckpointManager("checkpoints", model, optimizer)
    start = manager.load(scheduler)
    dataloader = StatefulDataLoader(TensorDataset(tokens), batch_size=4)
    batches = endless(dataloader)
    for step in range(start, steps):
        (batch,) = next(batches)
        loss = nn.functional.cross_entropy(model(batch[:, :-1]), batch[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if (step + 1) % 6 == 0:
            manager.save(step + 1, scheduler=scheduler)


if __name__ == "__main__":
    main()
