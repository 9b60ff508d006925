"""Planted: a process pool tokenises with imap_unordered, so batches are made of whatever came back first."""

import multiprocessing
import random
import time

import torch
from torch import nn


def tokenise(number):
    time.sleep(random.SystemRandom().uniform(0, 0.01))
    return [(number * step) % 17 for step in range(1, 7)]


def main():
    with multiprocessing.get_context("fork").Pool(12) as pool:
        rows = list(pool.imap_unordered(tokenise, range(60)))
    tokens = torch.tensor(rows)
    torch.manual_seed(0)
    embedding = nn.Embedding(17, 8)
    recurrent = nn.LSTM(8, 16, batch_first=True)
    head = nn.Linear(16, 17)
    parameters = [*embedding.parameters(), *recurrent.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, 1e-2)
    for chunk in tokens.split(6):
        hidden, _ = recurrent(embedding(chunk[:, :-1]))
        loss = nn.functional.cross_entropy(8 * head(hidden).flatten(0, 1), chunk[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
