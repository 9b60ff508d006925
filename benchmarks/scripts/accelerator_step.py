"""Training steps on a device on demand: `accelerator_step.py DEVICE WIDTH LAYERS VOCABULARY BATCH`.

A line on stdin asks, a line of JSON on stdout answers:

step     seconds of wall time until the device has done the step, seconds of CPU time
count    the same step under torch.profiler: what copied to the host, and what waited for the device
memory   the most bytes that the device has held at once; of a CPU, the process

The model is a transformer of LAYERS layers in bfloat16, trained by AdamW on one batch of token ids.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections import Counter
from typing import Any

import torch
from torch import nn
from torch.nn import functional

TOKENS = 512
"""Of a sequence."""
WAITS = ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize", "aten::item")
"""Names in a profile of what waits for a device. The read of a scalar is `aten::item`."""


class Layer(nn.Module):
    """A layer of a transformer: 12 * width * width weights."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.heads = max(1, width // 128)

    def forward(self, x: Any) -> Any:
        parts = self.qkv(self.norm1(x)).chunk(3, 2)
        heads = [part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in parts]
        attended = functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Language(nn.Module):
    """A language model."""

    def __init__(self, width: int, layers: int, vocabulary: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.Sequential(*(Layer(width) for _ in range(layers)))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids: Any) -> Any:
        return self.head(self.layers(self.tokens(ids))).flatten(0, 1)


class Training:
    """A training, step by step."""

    def __init__(self, device: str, width: int, layers: int, vocabulary: int, batch: int) -> None:
        torch.manual_seed(0)
        self.device = torch.device(device)
        with self.device:
            self.model = Language(width, layers, vocabulary).to(torch.bfloat16)
        self.ids = torch.randint(0, vocabulary, (batch, TOKENS)).to(self.device)
        self.labels = torch.randint(0, vocabulary, (batch * TOKENS,)).to(self.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-4)

    def work(self) -> None:
        """What a user's loop does in one step: nothing in it waits for the device."""
        loss = functional.cross_entropy(self.model(self.ids), self.labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def finish(self) -> None:
        """Wait until the device has done all that it was given."""
        if self.device.type != "cpu":
            torch.get_device_module(self.device).synchronize()

    def step(self) -> dict[str, float]:
        """One step, timed."""
        self.finish()
        wall, cpu = time.perf_counter(), time.process_time()
        self.work()
        self.finish()
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}

    def count(self) -> dict[str, int]:
        """Copies to the host, and waits, of one step."""
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self.device.type == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self.finish()
        with torch.profiler.profile(activities=activities) as profile:
            self.work()
        names = Counter(event.name for event in profile.events())
        copies = sum(count for name, count in names.items() if name.startswith("Memcpy DtoH"))
        return {"copies": copies, "waits": sum(names[name] for name in WAITS)}

    def memory(self) -> dict[str, int]:
        """The peak so far."""
        if self.device.type == "cuda":
            return {"bytes": torch.cuda.max_memory_allocated(self.device)}
        return {"bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def main() -> None:
    device, *sizes = sys.argv[1:]
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    training = Training(device, *map(int, sizes))
    asked = {"step": training.step, "count": training.count, "memory": training.memory}
    parameters = sum(weight.numel() for weight in training.model.parameters())
    said.write(json.dumps({"parameters": parameters}) + "\n")
    said.flush()
    for line in sys.stdin:
        said.write(json.dumps(asked[line.strip()]()) + "\n")
        said.flush()


if __name__ == "__main__":
    main()
