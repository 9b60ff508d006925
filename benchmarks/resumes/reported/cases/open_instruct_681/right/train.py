import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LAST = "output/last.pt"


def main(epochs=4):
    torch.manual_seed(0)
    texts = torch.randn(24, 6, generator=torch.Generator().manual_seed(3))
    train_dataloader = DataLoader(TensorDataset(texts, texts[:, :2].argmax(1)), batch_size=4)
    model = nn.Linear(6, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
    completed_steps = 0
    starting_epoch = resume_step = 0
    if os.path.exists(LAST):
        state = torch.load(LAST)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        completed_steps = state["completed_steps"]
        starting_epoch, resume_step = divmod(completed_steps, len(train_dataloader))
    for epoch in range(starting_epoch, epochs):
        for step, (x, y) in enumerate(train_dataloader):
            if step < resume_step:
                continue
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            completed_steps += 1
            if completed_steps % 8 == 0:
                os.makedirs("output", exist_ok=True)
                torch.save(
                    {
                        "model": model.state_dict(),
                        "optimizer": optimizer.state_dict(),
                        "completed_steps": completed_steps,
                    },
                    LAST,
                )
        resume_step = 0


main()
