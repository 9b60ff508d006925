"""Planted, after sktime/sktime#9674: the network accepts a random_state, keeps it, and never seeds anything with it."""

import torch
from modules.recurrent import RNNNetwork
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series: torch.Tensor, length: int) -> None:
        self.series, self.length = series, length

    def __len__(self) -> int:
        return len(self.series) - self.length

    def __getitem__(self, start: int):
        return self.series[start : start + self.length, None], self.series[start + self.length]


class Forecaster:
    def __init__(self, window: int = 6, epochs: int = 1, random_state: int | None = None) -> None:
        self.window, self.epochs, self.random_state = window, epochs, random_state

    def fit(self, series: torch.Tensor) -> "Forecaster":
        self.network = RNNNetwork(1, random_state=self.random_state)
        loader = DataLoader(Windows(series, self.window), batch_size=8)
        criterion = nn.MSELoss()
        optimizer = torch.optim.Adam(self.network.parameters(), lr=0.01)
        for _ in range(self.epochs):
            for windows, following in loader:
                optimizer.zero_grad()
                criterion(self.network(windows), following).backward()
                optimizer.step()
        return self


if __name__ == "__main__":
    steps = torch.arange(60.0)
    Forecaster(random_state=7).fit(steps / 15 + 2 * (steps / 2).sin())
