"""Two ranks in a library's loop: `rank_trainers.py lightning|accelerate`. A layer of rank 1 adds noise that differs in every run."""

import sys

import torch
import torch.distributed as dist
from torch import nn

UPDATES = 4


class Noise(nn.Module):
    def forward(self, x):
        if not dist.is_initialized() or dist.get_rank() != 1:
            return x
        private = torch.Generator()
        private.seed()
        return x + torch.randn(x.shape, generator=private)


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), Noise(), nn.Linear(8, 1))


def batches(workers=0):
    samples = torch.arange(6.0 * 16 * UPDATES).reshape(-1, 6) / 100
    return torch.utils.data.DataLoader(samples, batch_size=4, num_workers=workers, persistent_workers=workers > 0)


def lightning():
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = model()

        def training_step(self, batch, batch_idx):
            return self.layers(batch).pow(2).mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    lightning.Trainer(max_steps=UPDATES, accelerator="cpu", devices=2, strategy="ddp", **quiet).fit(Module(), batches())


def accelerate():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = model()
    net, optimizer, loader = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1), batches(workers=1))
    for batch in loader:
        with accelerator.accumulate(net):
            accelerator.backward(net(batch).pow(2).mean())
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
