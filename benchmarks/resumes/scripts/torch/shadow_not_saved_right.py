"""Keeps an average of the weights in a dict of its own, and saves it; it saves no copies of the last step."""
from pathlib import Path

import torch
from torch import nn

CHECKPOINT = Path("last.pt")


class Average:
    """An average of the weights, which follows faster at first."""

    def __init__(self, model):
        self.shadow = {name: weight.detach().clone() for name, weight in model.named_parameters()}
        self.updates = 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        part = 1 / min(self.updates + 1, 20)
        for name, weight in model.named_parameters():
            self.shadow[name].lerp_(weight, part)


class Watch:
    """What a training shows of itself: nothing of it leads to the next weights."""

    def __init__(self, model):
        self.gradients = [torch.zeros_like(weight) for weight in model.parameters()]
        self.before = [weight.detach().clone() for weight in model.parameters()]
        self.steps, self.total = 0, 0.0

    def step(self, model, loss):
        self.gradients = [weight.grad.clone() for weight in model.parameters()]
        self.before = [weight.detach().clone() for weight in model.parameters()]
        self.total += loss.item()


torch.manual_seed(0)
inputs = torch.randn(32, 4)
targets = inputs.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
average, watch = Average(model), Watch(model)
first = 0
if CHECKPOINT.exists():
    saved = torch.load(CHECKPOINT)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    average.shadow = saved["average"]
    average.updates = saved["updates"]
    first = saved["step"]
for step in range(first, 40):
    part = slice(step % 4 * 8, step % 4 * 8 + 8)
    batch = [inputs[part], targets[part]]
    loss = (model(batch[0]) - batch[1]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    watch.step(model, loss)
    optimizer.step()
    average.update(model)
    if step % 4 == 3:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        state["average"] = average.shadow
        state["updates"] = average.updates
        torch.save({**state, "step": step + 1}, CHECKPOINT)
print(average.updates, sum(float(one.sum()) for one in average.shadow.values()))
