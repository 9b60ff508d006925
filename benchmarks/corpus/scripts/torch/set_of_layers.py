"""Planted: the layers are initialised again in a loop over a set of them, which their addresses order; the first weights differ."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(4, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.fourth, self.out = nn.Linear(16, 16), nn.Linear(16, 1)
        hidden = {self.first, self.second, self.third, self.fourth, self.out}
        for layer in hidden:
            nn.init.xavier_normal_(layer.weight, gain=1.5)

    def forward(self, inputs):
        inner = torch.tanh(self.second(torch.tanh(self.first(inputs))))
        return self.out(torch.tanh(self.fourth(torch.tanh(self.third(inner)))))


def main():
    torch.manual_seed(11)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    inputs = torch.linspace(-2, 2, 64).reshape(16, 4)
    for _ in range(8):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), 4 * inputs[:, :1]).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
