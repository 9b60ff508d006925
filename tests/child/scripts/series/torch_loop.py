"""A loop that clips, schedules, scales and logs; prints what it reported, as the recorder should have it."""

import json
import sys
from importlib.util import find_spec

import reprocheck
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

reported = []


def report(name, value, iteration, by="torch", step=None):
    value = value.item() if isinstance(value, torch.Tensor) else value
    reported.append([name, by, float(value).hex(), iteration, step])


def loop(writers):
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    for iteration in range(1, 9):
        loss = model(torch.randn(8, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        report("grad_norm", clip_grad_norm_(model.parameters(), 0.5), iteration)
        if iteration in (1, 4, 7):
            report("learning_rate", schedule.get_last_lr()[0], iteration)
        optimizer.step()
        schedule.step()
        reprocheck.log(accuracy=loss.detach() / 3, table="text", many=torch.ones(2), yes=True)
        report("accuracy", loss.detach() / 3, iteration, by="")
        for by, writer in writers.items():
            writer.add_scalar("loss/train", loss, iteration * 10)
            report("loss/train", loss, iteration, by, iteration * 10.0)
    for by, writer in writers.items():
        writer.add_scalars("valid", {"accuracy": 0.1, "loss": loss.double()}, global_step=8)
        report("valid/accuracy", 0.1, 8, by, 8.0)
        report("valid/loss", loss, 8, by, 8.0)


def scaled():
    """Two groups of a second optimizer; a scale that halves when a gradient is not finite.

    The first optimizer is waited for until this one steps again: all of it is iteration 9.
    """
    model = nn.Linear(4, 1)
    groups = [{"params": [model.weight]}, {"params": [model.bias], "lr": torch.tensor(0.25)}]
    optimizer = torch.optim.SGD(groups, lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    for iteration in range(9, 12):
        loss = model(torch.ones(2, 4)).mean()
        scaler.scale(loss * (float("inf") if iteration == 10 else 1.0)).backward()
        if iteration == 9:
            report("learning_rate/1.0", 0.5, 9)
            report("learning_rate/1.1", 0.25, 9)
        if iteration == 11:
            groups[1]["lr"].mul_(2)
            report("learning_rate/1.1", 0.5, 9)
        scaler.step(optimizer)
        scaler.update()
        if iteration != 11:
            report("loss_scale", scaler.get_scale(), 9)
        optimizer.zero_grad()


def traced():
    """What is compiled or transformed has no values to be recorded; nothing breaks."""
    weight = torch.ones(2, requires_grad=True)
    weight.grad = torch.ones(2)
    torch.compile(lambda: clip_grad_norm_([weight], 1.0), backend="eager", fullgraph=True)()

    def inside(value):
        reprocheck.log(inside=value)
        return value * 2

    torch.func.vmap(inside)(torch.ones(3))


def writers():
    """Those that are installed."""
    sys.modules["tensorflow"] = None  # TensorBoard would import it, where it is installed
    found = {}
    if find_spec("tensorboard"):
        from torch.utils.tensorboard import SummaryWriter

        found["tensorboard"] = SummaryWriter("runs")
    if find_spec("tensorboardX"):
        from tensorboardX import SummaryWriter

        found["tensorboardx"] = SummaryWriter("others")
    return found


loop(writers())
scaled()
traced()
print(json.dumps(reported))
