import math
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main(num_train_epochs=6, gradient_accumulation_steps=2, path="state/train_state.pt"):
    torch.manual_seed(0)
    latents = torch.randn(32, 6, generator=torch.Generator().manual_seed(8))
    train_dataloader = DataLoader(TensorDataset(latents), batch_size=4)
    network = nn.Linear(6, 6)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    initial_step = global_step = 0
    if os.path.exists(path):
        state = torch.load(path)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        initial_step = global_step = state["global_step"]
    per_epoch = math.ceil(len(train_dataloader) / gradient_accumulation_steps)
    initial_step *= gradient_accumulation_steps
    epoch_to_start = initial_step // per_epoch
    for epoch in range(epoch_to_start, num_train_epochs):
        for number, (x,) in enumerate(train_dataloader):
            if epoch == epoch_to_start and number < initial_step - epoch_to_start * per_epoch * 1:
                continue
            loss = (network(x) - x.roll(1, 1)).pow(2).mean() / gradient_accumulation_steps
            loss.backward()
            if (number + 1) % gradient_accumulation_steps == 0:
                optimizer.step()
                optimizer.zero_grad()
                global_step += 1
                if global_step % 12 == 0:
                    os.makedirs("state", exist_ok=True)
                    torch.save(
                        {
                            "network": network.state_dict(),
                            "optimizer": optimizer.state_dict(),
                            "global_step": global_step,
                        },
                        path,
                    )


main()
