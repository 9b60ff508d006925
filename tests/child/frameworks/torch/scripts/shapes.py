"""Ways to train in PyTorch, one a function: `python shapes.py NAME…`. Each prints its losses, one iteration a line.

Each trains in a process of its own, forked off where torch is imported: `shape NAME PID`, and what it prints.
"""

import os
import sys

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

ITERATIONS = 4


def data():
    torch.manual_seed(0)
    return torch.randn(32, 4), torch.randn(32, 1), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def say(*losses):
    print("losses", *(float(loss.detach()).hex() for loss in losses), flush=True)


def plain():
    inputs, targets, model = data()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    for _ in range(ITERATIONS):
        loss = F.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        say(loss)
        optimizer.step()


def accumulation():
    inputs, targets, model = data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(ITERATIONS):
        losses = []
        for batch, target in zip(inputs.chunk(4), targets.chunk(4)):
            losses.append(F.mse_loss(model(batch), target) / 4)
            losses[-1].backward()
        say(*losses)
        optimizer.step()
        optimizer.zero_grad()


def lbfgs():
    inputs, targets, model = data()
    optimizer = torch.optim.LBFGS(model.parameters(), 0.1, max_iter=3)
    for _ in range(ITERATIONS):
        losses = []

        def closure(losses=losses):
            optimizer.zero_grad()
            losses.append(F.mse_loss(model(inputs), targets))
            losses[-1].backward()
            return losses[-1]

        optimizer.step(closure)
        say(*losses)


def skipped_step():
    """float16 gradients overflow under a scale of 2^40 until the scaler has backed off: the steps before are skipped."""
    inputs, targets, model = data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, backoff_factor=2.0**-60)
    pending = []
    for _ in range(ITERATIONS + 2):
        loss = F.mse_loss(model(inputs), targets) * 8
        optimizer.zero_grad()
        before = [weight.clone() for weight in model.parameters()]
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        pending.append(loss)
        if any(not torch.equal(a, b) for a, b in zip(before, model.parameters())):
            say(*pending)
            pending = []


def autocast():
    inputs, targets, model = data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(ITERATIONS):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = (model(inputs) - targets.bfloat16()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        say(loss)
        optimizer.step()


def several_roots():
    inputs, targets, model = data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(ITERATIONS):
        output = model(inputs)
        losses = [F.mse_loss(output, targets), output.abs().mean()]
        optimizer.zero_grad()
        torch.autograd.backward(losses)
        say(*losses)
        optimizer.step()


def not_scalar():
    inputs, targets, model = data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(ITERATIONS):
        loss = (model(inputs) - targets).pow(2)
        optimizer.zero_grad()
        weights = torch.full_like(loss, 0.25)
        loss.backward(weights)
        say((loss.detach().double() * weights.double()).sum())
        optimizer.step()


def gradient_penalty():
    """`autograd.grad` beside a backward pass is no loss."""
    inputs, targets, model = data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(ITERATIONS):
        probe = inputs.clone().requires_grad_()
        (slope,) = torch.autograd.grad(model(probe).sum(), probe, create_graph=True)
        loss = F.mse_loss(model(inputs), targets) + slope.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        say(loss)
        optimizer.step()


def only_grad():
    """`autograd.grad` alone, weights updated by hand: its roots are the losses."""
    inputs, targets, model = data()
    weights = list(model.parameters())
    for _ in range(ITERATIONS):
        loss = F.mse_loss(model(inputs), targets)
        say(loss)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients):
                weight -= 0.1 * gradient


def functional_update():
    """Weights that are new tensors after each update."""
    inputs, targets, _ = data()
    weights = torch.zeros(4, 1, requires_grad=True)
    for _ in range(ITERATIONS):
        loss = (inputs @ weights - targets).pow(2).mean()
        loss.backward()
        say(loss)
        weights = (weights - 0.1 * weights.grad).detach().requires_grad_()


def by_hand():
    """Weights are updated in place, without an optimizer."""
    inputs, targets, _ = data()
    weights = torch.zeros(4, 1, requires_grad=True)
    for _ in range(ITERATIONS):
        loss = (inputs @ weights - targets).pow(2).mean()
        loss.backward()
        say(loss)
        with torch.no_grad():
            weights -= 0.1 * weights.grad
            weights.grad = None


def gan():
    """Two optimizers and three backward passes an iteration."""
    inputs, _, generator = data()
    critic = nn.Linear(1, 1)
    step_g, step_c = torch.optim.Adam(generator.parameters(), 0.01), torch.optim.Adam(critic.parameters(), 0.01)
    bce, real = F.binary_cross_entropy_with_logits, torch.ones(32, 1)
    for _ in range(ITERATIONS):
        fake = generator(inputs)
        step_c.zero_grad()
        losses = [bce(critic(real), torch.ones(32, 1)), bce(critic(fake.detach()), torch.zeros(32, 1))]
        for loss in losses:
            loss.backward()
        step_c.step()
        step_g.zero_grad()
        losses.append(bce(critic(fake), torch.ones(32, 1)))
        losses[-1].backward()
        step_g.step()
        say(*losses)


def wgan():
    """The critic steps three times for each step of the generator: critic | critic | critic | generator and critic | …"""
    inputs, targets, generator = data()
    critic = nn.Linear(1, 1)
    step_g, step_c = torch.optim.RMSprop(generator.parameters(), 0.001), torch.optim.RMSprop(critic.parameters(), 0.001)
    before = []
    for _ in range(ITERATIONS):
        for _ in range(3):
            step_c.zero_grad()
            loss = critic(generator(inputs).detach()).mean() - critic(targets).mean()
            loss.backward()
            step_c.step()
            say(*before, loss)
            before = []
        step_g.zero_grad()
        loss = -critic(generator(inputs)).mean()
        loss.backward()
        step_g.step()
        before = [loss]
    say(*before)


def checkpointing():
    """A reentrant checkpoint runs a backward pass inside the backward pass."""
    from torch.utils.checkpoint import checkpoint

    inputs, targets, model = data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(ITERATIONS):
        loss = F.mse_loss(checkpoint(model, inputs.clone().requires_grad_(), use_reentrant=True), targets)
        optimizer.zero_grad()
        loss.backward()
        say(loss)
        optimizer.step()


def wrapped_optimizer():
    """Sharpness-aware minimisation: an optimizer that steps another one inside its own step, with a closure of two backward passes."""
    inputs, targets, model = data()

    class SAM(torch.optim.Optimizer):
        def __init__(self, parameters, base, **defaults):
            super().__init__(parameters, defaults)
            self.base = base(self.param_groups, lr=0.1)

        @torch.no_grad()
        def step(self, closure):
            losses = [torch.enable_grad()(closure)()]
            moves = [(weight, weight.grad * 0.05) for group in self.param_groups for weight in group["params"]]
            for weight, move in moves:
                weight.add_(move)
            losses.append(torch.enable_grad()(closure)())
            for weight, move in moves:
                weight.sub_(move)
            self.base.step()
            say(*losses)

    optimizer = SAM(model.parameters(), torch.optim.SGD)
    for _ in range(ITERATIONS):

        def closure():
            optimizer.zero_grad()
            loss = F.mse_loss(model(inputs), targets)
            loss.backward()
            return loss

        optimizer.step(closure)


def said():
    """The script says its loss itself: only that counts."""
    import reprocheck

    inputs, targets, model = data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(ITERATIONS):
        loss = F.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        (loss * 2).backward()
        reprocheck.log_loss(loss)
        say(loss)
        optimizer.step()


def compiled():
    inputs, targets, model = data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    fast = torch.compile(lambda x, y: F.mse_loss(model(x), y), fullgraph=True)

    @torch.compile(backend="aot_eager")
    def update():
        optimizer.step()

    for iteration in range(ITERATIONS):
        loss = fast(inputs, targets)
        optimizer.zero_grad()
        loss.backward()
        say(loss)
        update() if iteration > 1 else optimizer.step()


def threads():
    """Two threads, a model and an optimizer each, in lockstep: their losses are compared as a multiset."""
    import threading

    inputs, targets, _ = data()
    models = [nn.Linear(4, 1), nn.Linear(4, 1)]
    optimizers = [torch.optim.SGD(model.parameters(), 0.1) for model in models]
    for _ in range(ITERATIONS):
        losses = [None, None]

        def work(which, losses=losses):
            losses[which] = F.mse_loss(models[which](inputs), targets)
            optimizers[which].zero_grad()
            losses[which].backward()

        workers = [threading.Thread(target=work, args=(which,)) for which in (0, 1)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        say(*sorted(losses))
        for optimizer in optimizers:
            optimizer.step()


if __name__ == "__main__":
    import torch._dynamo  # every optimizer imports it; here it is done once, before the processes part

    for name in sys.argv[1:]:
        child = os.fork()
        if not child:
            print("shape", name, os.getpid(), flush=True)
            globals()[name]()
            sys.exit()
        if os.waitpid(child, 0)[1]:
            sys.exit(name + " failed")
