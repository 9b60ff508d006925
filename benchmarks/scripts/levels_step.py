"""Training steps on demand: `levels_step.py MODEL MODE FOLDER`.

A line on stdin asks for a step, a line on stdout is its CPU time; of a line `calls`, how many Python
functions of the recorder ran in it.

MODE: `plain`, `recorded` (the recorder is on the path), `debugmode`, or `msprobe-LEVEL-SUMMARY`.
Everything on one thread. LEAVE_OUT names parts of the recorder that do nothing: `levels_parts.py`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inside: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = (
            nn.Sequential(nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out))
            if stride > 1
            else nn.Identity()
        )

    def forward(self, x: Any) -> Any:
        return self.relu(
            self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x))))) + self.shortcut(x)
        )


class Layer(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Any) -> Any:
        heads = [
            part.unflatten(2, (6, -1)).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).chunk(3, 2)
        ]
        attended = (
            functional.scaled_dot_product_attention(*heads, is_causal=True)
            .transpose(1, 2)
            .flatten(2)
        )
        x = x + self.out(attended)
        return x + self.mlp(self.norm2(x))


class Language(nn.Module):
    """6 layers of 384 over 128 tokens: 11 million parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(256, 384), nn.Embedding(128, 384)
        self.layers = nn.Sequential(*(Layer(384) for _ in range(6)))
        self.head = nn.Linear(384, 256)

    def forward(self, ids: Any) -> Any:
        return self.head(
            self.layers(self.tokens(ids) + self.places(torch.arange(ids.shape[1])))
        ).flatten(0, 1)


def mlp() -> tuple[nn.Module, Any, Any]:
    model = nn.Sequential(
        nn.Linear(256, 640), nn.ReLU(), nn.Linear(640, 640), nn.ReLU(), nn.Linear(640, 10)
    )
    return model, torch.randn(128, 256), torch.randint(0, 10, (128,))


def resnet() -> tuple[nn.Module, Any, Any]:
    widths = [
        (64, 64, 1),
        (64, 64, 1),
        (64, 128, 2),
        (128, 128, 1),
        (128, 256, 2),
        (256, 256, 1),
        (256, 512, 2),
        (512, 512, 1),
    ]
    start = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    model = nn.Sequential(
        *start,
        *(Block(*width) for width in widths),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(512, 10),
    )
    return model, torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,))


def gpt() -> tuple[nn.Module, Any, Any]:
    return Language(), torch.randint(0, 256, (4, 128)), torch.randint(0, 256, (512,))


def main() -> None:
    model_name, mode, folder = sys.argv[1:]
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    for part in os.environ.get("LEAVE_OUT", "").split():
        WITHOUT[part]()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, inputs, labels = {"mlp": mlp, "resnet": resnet, "gpt": gpt}[model_name]()
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)

    def step() -> None:
        loss = functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    run = watched(mode, step, model, Path(folder))
    said.write("ready\n")
    said.flush()
    for asked in sys.stdin:
        measured = calls if asked.strip() == "calls" else seconds
        said.write(f"{measured(run)}\n")
        said.flush()


def seconds(run: Callable[[], None]) -> float:
    """Seconds of CPU of one step."""
    started = time.process_time()
    run()
    return time.process_time() - started


def calls(run: Callable[[], None]) -> int:
    """How many Python functions of the recorder run in one step."""
    functions: list[str] = []

    def look(frame: Any, event: str, _: object) -> None:
        if event == "call" and "reprocheck_child" in frame.f_code.co_filename:
            functions.append(frame.f_code.co_name)

    sys.setprofile(look)
    run()
    sys.setprofile(None)
    return len(functions)


def without_sketches() -> None:
    from reprocheck_child.frameworks.torch.sketch import HostSketches

    for name in ("make_room", "add", "add_single", "add_short", "finish"):
        setattr(HostSketches, name, nothing)


def without_text() -> None:
    from reprocheck_child.recorder import json_text

    json_text.lines = lambda values: ""


def without_hashes() -> None:
    """Each tensor counts as one that was never seen before."""
    from itertools import count

    from reprocheck_child.deep_levels import hashing

    numbers = count()
    hashing.digest = lambda data: str(next(numbers))


def without_reading() -> None:
    """No tensor is looked at: the hooks alone are left."""
    from reprocheck_child.frameworks.torch.fingerprint import Fingerprints

    same = {"h": "0", "d": "float32", "s": [1]}
    Fingerprints.read = lambda self, tensor, sketched=True, glance=False: (same, None)


def nothing(*_: object) -> None:
    """In the place of a method."""


WITHOUT = {
    "sketches": without_sketches,
    "text": without_text,
    "hashes": without_hashes,
    "reading": without_reading,
}
"""Parts of the recorder that can be left out, to see what each costs."""


def watched(
    mode: str, step: Callable[[], None], model: nn.Module, folder: Path
) -> Callable[[], None]:
    """The step under what `mode` names."""
    if mode in ("plain", "recorded"):
        return step
    if mode == "debugmode":
        from torch.utils._debug_mode import DebugMode

        def debugged() -> None:
            with (
                DebugMode(),
                DebugMode.log_tensor_hashes(hash_fn="hash_tensor")
                if hasattr(DebugMode, "log_tensor_hashes")
                else nullcontext(),
            ):
                step()

        return debugged
    from msprobe.pytorch import PrecisionDebugger

    _, level, summary = mode.split("-")
    settings = {
        "task": "statistics",
        "dump_path": str(folder),
        "rank": [],
        "step": [],
        "level": level,
        "async_dump": False,
    }
    settings["statistics"] = {
        "scope": [],
        "list": [],
        "data_mode": ["all"],
        "summary_mode": summary,
    }
    path = folder / f"{mode}.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    debugger = PrecisionDebugger(config_path=str(path))

    def dumped() -> None:
        debugger.start(model=model)
        step()
        debugger.stop()
        debugger.step()

    return dumped


if __name__ == "__main__":
    main()
