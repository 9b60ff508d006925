"""A recurrent forecaster for reported_random_state_unused_fixed.py; it seeds PyTorch with its random_state."""

import torch
from torch import nn


class RNNNetwork(nn.Module):
    def __init__(self, input_size: int, hidden_dim: int = 8, layers: int = 1, random_state: int = 0) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.random_state = random_state
        torch.manual_seed(self.random_state)
        self.rnn = nn.GRU(input_size, hidden_dim, layers, batch_first=True)
        self.fc = nn.Linear(hidden_dim, 1)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        return self.fc(self.rnn(series)[0][:, -1]).squeeze(-1)
