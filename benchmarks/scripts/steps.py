"""Plain and recorded steps of an MLP, taking turns; prints their CPU time.

Runs with the recorder on the path.

Plain: torch's own engine and no step hooks, as they were before the recorder came.
"""

import json
import sys
import time

import torch
from torch import nn
from torch._C import _ImperativeEngine
from torch.autograd import Variable
from torch.optim import optimizer as hooks

WARM = 30


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Linear(256, 640), nn.ReLU(), nn.Linear(640, 640), nn.ReLU(), nn.Linear(640, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    inputs, labels = torch.randn(128, 256), torch.randint(0, 10, (128,))

    def step() -> float:
        started = time.process_time()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return time.process_time() - started

    for _ in range(
        WARM
    ):  # the recorder's first iterations, in which it looks at the weights, belong to the warm-up
        step()
    recorded = (
        Variable._execution_engine,
        dict(hooks._global_optimizer_pre_hooks),
        dict(hooks._global_optimizer_post_hooks),
    )
    plain = (_ImperativeEngine(), {}, {})
    if type(recorded[0]) is _ImperativeEngine or not recorded[2]:
        sys.exit("the recorder is not installed: nothing to compare")

    def switch(state: tuple) -> None:
        Variable._execution_engine = state[0]
        for hooked, wanted in (
            (hooks._global_optimizer_pre_hooks, state[1]),
            (hooks._global_optimizer_post_hooks, state[2]),
        ):
            hooked.clear()
            hooked.update(wanted)

    plains, differences = [], []
    for pair in range(int(sys.argv[1])):
        order = (plain, recorded) if pair % 2 else (recorded, plain)
        times = {}
        for state in order:
            switch(state)
            times[id(state)] = step()
        plains.append(times[id(plain)])
        differences.append(times[id(recorded)] - times[id(plain)])
    middle = len(plains) // 2
    print(json.dumps({"plain": sorted(plains)[middle], "more": sorted(differences)[middle]}))


if __name__ == "__main__":
    main()
