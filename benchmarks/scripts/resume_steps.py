"""A training that keeps a checkpoint after CHECKPOINT_AT steps and goes on from it where it is
there.

Behind each step it writes seconds of wall time and of CPU since the first one began to the file
that STEP_TIMES names: `resume_steps.py MODEL`.
"""

import os
import sys
import time
from pathlib import Path

import torch
from levels_step import mlp, resnet
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

CHECKPOINT = Path("checkpoint.pt")
BATCHES = 64


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, inputs, labels = {"mlp": mlp, "resnet": resnet}[sys.argv[1]]()
    samples = TensorDataset(torch.cat([inputs] * BATCHES), torch.cat([labels] * BATCHES))
    loader = DataLoader(samples, batch_size=len(inputs))
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    done = 0
    if CHECKPOINT.exists():
        saved = torch.load(CHECKPOINT)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        done = saved["done"]
    last = int(os.environ.get("STEPS", BATCHES))
    with Path(os.environ["STEP_TIMES"]).open("a", encoding="utf-8") as times:
        wall, cpu = time.perf_counter(), time.process_time()
        for number, (batch, wanted) in enumerate(loader, 1):
            if number <= done:
                continue
            loss = functional.cross_entropy(model(batch), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if number == int(os.environ["CHECKPOINT_AT"]):
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                torch.save({**state, "done": number}, CHECKPOINT)
            times.write(f"{time.perf_counter() - wall} {time.process_time() - cpu}\n")
            times.flush()
            if number == last:
                break


if __name__ == "__main__":
    main()
