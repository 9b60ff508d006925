import click
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@click.command()
@click.option("--lr", default=0.02)
@click.option("--resume-from", type=click.Path(), default=None)
def train(lr, resume_from):
    torch.manual_seed(2)
    rows = torch.randn(96, 5, generator=torch.Generator().manual_seed(6))
    data_loader = DataLoader(TensorDataset(rows, rows.mean(1, keepdim=True)), batch_size=4)
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    step, resume_target_step = 0, None
    if resume_from:
        full = torch.load(resume_from)
        model.load_state_dict(full["model"])
        optimizer.load_state_dict(full["optimizer"])
        step = resume_target_step = full["step"]
    skipped = 0
    for x, y in data_loader:
        if resume_target_step is not None:
            skipped += 1
            if skipped <= resume_target_step:
                continue
            resume_target_step = None
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 7 == 0:
            torch.save(
                {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step},
                "full_state.pt",
            )


if __name__ == "__main__":
    train()
