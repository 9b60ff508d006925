"""Supervised fine-tuning by steps; `python -m sft.worker`."""

import os

import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class SFTWorker:
    def __init__(self, steps=30, path="ckpt.pt"):
        torch.manual_seed(0)
        self.steps, self.path, self.train_step = steps, path, 0
        data = torch.randn(40, 6, generator=torch.Generator().manual_seed(4))
        self.dataset = TensorDataset(data, data[:, :3].argmax(1))
        self.sampler = DistributedSampler(
            self.dataset, num_replicas=1, rank=0, shuffle=True, seed=3
        )
        self.loader = DataLoader(self.dataset, batch_size=4, sampler=self.sampler)
        self.model = nn.Linear(6, 3)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)

    def load(self):
        if os.path.exists(self.path):
            state = torch.load(self.path)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.train_step = state["train_step"]

    def main_loop(self):
        per_epoch = len(self.loader)
        skip = self.train_step % per_epoch
        epoch = self.train_step // per_epoch
        self.sampler.set_epoch(epoch)
        while self.train_step < self.steps:
            for number, (x, y) in enumerate(self.loader):
                if number < skip:
                    continue
                skip = 0
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.train_step += 1
                if self.train_step % 13 == 0:
                    state = {
                        "model": self.model.state_dict(),
                        "optimizer": self.optimizer.state_dict(),
                        "train_step": self.train_step,
                    }
                    torch.save(state, self.path)
                if self.train_step == self.steps:
                    break
            epoch += 1
            self.sampler.set_epoch(epoch)


if __name__ == "__main__":
    worker = SFTWorker()
    worker.load()
    worker.main_loop()
