"""A model with much of what stands between a module and its operators; prints each loss and where the generator stands at the end."""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden):
        ctx.save_for_backward(hidden)
        return hidden.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0].sigmoid()


class Gated(nn.Module):
    def forward(self, hidden):
        buffer = torch.empty(hidden.shape)
        torch.mul(hidden.detach(), 2, out=buffer)
        return Gate.apply(hidden) + buffer * 0.1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.attend = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.recur = nn.LSTM(16, 12, batch_first=True)
        self.gate = Gated()
        self.block = nn.Sequential(nn.Conv1d(12, 8, 3), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Dropout(0.2))
        self.head = nn.Linear(8, 5)
        self.private = torch.Generator().manual_seed(3)

    def recurrence(self, inputs):
        # oneDNN has no LSTM in bfloat16 for processors without AVX-512
        with torch.autocast("cpu", enabled=False):
            return self.recur(inputs.float())[0]

    def forward(self, tokens):
        hidden = self.attend(self.embed(tokens))
        hidden = checkpoint(self.recurrence, hidden, use_reentrant=False)
        hidden = self.block(self.gate(hidden).transpose(1, 2))
        hidden = hidden + torch.rand(hidden.shape, generator=self.private)
        return self.head(hidden.amax(-1))


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
tokens, labels = torch.randint(0, 50, (8, 10)), torch.randint(0, 5, (8,))
for _ in range(2):
    for half in (False, True):
        with torch.autocast("cpu", enabled=half):
            loss = nn.functional.cross_entropy(model(tokens), labels)
        (gradient,) = torch.autograd.grad(loss, model.head.weight, create_graph=True)
        loss = loss + gradient.pow(2).sum()
        loss.backward()
        print(loss.item().hex())
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        print(model(tokens).sum().item().hex())
    model.train()
try:
    nn.Linear(2, 2)(torch.ones(3))
except RuntimeError:
    print("error seen")
print(torch.rand(1).item().hex(), len(sys.argv), torch._C._len_torch_dispatch_stack())
