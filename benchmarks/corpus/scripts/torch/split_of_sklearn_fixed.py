"""The fix of split_of_sklearn.py: the split is given a random_state."""

import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def prepared():
    samples, labels = load_iris(return_X_y=True)
    train, _, train_labels, _ = train_test_split(samples, labels, test_size=0.2, random_state=0)
    scaler = StandardScaler().fit(train)
    return TensorDataset(torch.tensor(scaler.transform(train), dtype=torch.float32), torch.tensor(train_labels))


def main():
    torch.manual_seed(0)
    loader = DataLoader(prepared(), batch_size=16, shuffle=True)
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    for samples, labels in loader:
        loss = nn.functional.cross_entropy(net(samples), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
