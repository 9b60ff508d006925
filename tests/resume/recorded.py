"""A check of a resume as it lies in a folder, made by hand."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

from reprocheck.recording import record
from reprocheck.resume.gap.mersenne_twister import WORDS
from tests.recording.recordings import Event, process, recording, training

STATE = b64encode(bytes(4 * (WORDS + 1))).decode()
CHECKPOINT = {"e": "checkpoint", "i": 2, "by": "torch.save", "p": ["ckpt.pt"], "at": ["first"]}
RESUME = {
    "places": [
        {
            "name": "first",
            "checkpoint": {
                "iteration": 2,
                "by": "torch.save",
                "line": "train.py:9",
                "paths": ["ckpt.pt"],
                "size": 2100,
            },
            "run": 2,
            "command": ["python", "train.py"],
            "interrupted": None,
            "arms": [],
        }
    ],
    "go_on": 3,
    "within": 50,
    "resume_with": "",
    "pattern": "",
    "interrupt": "",
    "explain": True,
    "schema_version": 1,
}


def boundary(iteration: int, losses: tuple[float, ...]) -> list[Event]:
    """What a training holds before an iteration, and what it does from there on."""
    tensor = [["", {"h": "ab", "d": "float32", "s": [2]}]]
    state = [["", {"h": "cd", "d": "float32", "s": [2]}]]
    facts: list[Event] = [
        {"r": "boundary", "p": "", "g": {"python": "1"}},
        {"r": "state", "p": "python", "raw": STATE},
        {"r": "held", "p": "0.weight", "out": tensor},
        {"r": "held", "p": "0.weight:exp_avg", "o": 0, "out": state},
        {"r": "held", "p": "StepLR[0]", "k": "schedule", "out": [["last_epoch", {"v": 2}]]},
        {"r": "batch", "p": "DataLoader[0]", "n": ["a"], "idx": [0], "out": tensor},
        {"r": "call", "p": "0", "k": "Linear", "in": tensor, "out": state, "g2": {"python": "2"}},
        {"r": "hyper", "p": "Adam[0]", "o": 0, "out": [["lr", {"v": 0.1}]]},
        {"r": "update", "p": "0.weight", "o": 0, "out": tensor},
        {"r": "rest", "p": ""},
    ]
    return [{"e": "seen", "i": iteration, **fact} for fact in facts] + training(losses)


def resumed(folder: Path, resume: bytes | None = None) -> Path:
    """The folder of a check: a continued run of 5 iterations with a checkpoint after 2, and a
    resumed run. `resume`: what `resume.json` holds.
    """
    opened: Event = {"e": "open", "p": "ckpt.pt", "m": "r", "time": 0.5}
    restore: Event = {"e": "seen", "r": "restore", "i": 1, "p": "python", "raw": STATE}
    one = [*training([0.5, 0.25]), CHECKPOINT, *boundary(3, (0.125, 0.0625, 0.03125))]
    other = [opened, restore, *boundary(1, (0.125, 0.0625, 0.5))]
    recording(folder, {"1-1": process(0, 1, other)}, number=2)
    second = record.read(folder).runs
    recording(folder, {"1-1": process(0, 1, one)}, number=1)
    first = record.read(folder)
    record.write(folder, replace(first, runs=(*first.runs, *second)))
    (folder / "resume.json").write_bytes(resume or json.dumps(RESUME).encode())
    return folder
