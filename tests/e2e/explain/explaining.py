"""Scripts in plain Python that show one thing each, and what a user gets from `reprocheck explain`
on one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprocheck.model import CheckRecord
from reprocheck.recording import record
from tests.conftest import assert_same_elsewhere, note_narrow_agreement, reprocheck

PRIVATE = """
import random, reprocheck
rng = random.Random()
for step in range(20):
    reprocheck.log_loss(10 * rng.random())
"""
TWO_CAUSES = """
import random, time, reprocheck
rng = random.Random()
scale = time.time_ns() // 100 % 1000
for step in range(20):
    reprocheck.log_loss(10 * rng.random() + scale)
"""
AND_LATER = """
import random, reprocheck, struct
rng = random.Random()
with open("/dev/urandom", "rb") as file:
    noise = struct.unpack("20H", file.read(40))
for step in range(20):
    reprocheck.log_loss(10 * rng.random() + (1 + noise[step] if step >= 6 else 0))
"""
NATIVE = """
import reprocheck, struct
with open("/dev/urandom", "rb") as file:
    noise = struct.unpack("20H", file.read(40))
for step in range(20):
    reprocheck.log_loss(10 + noise[step])
"""
REFUSES = """
import os, reprocheck, struct
def scatter():
    if os.environ.get("CUBLAS_WORKSPACE_CONFIG"):
        raise RuntimeError("scatter_reduce_two does not have a deterministic implementation, but you set 'use_deterministic_algorithms'.")
scatter()
with open("/dev/urandom", "rb") as file:
    noise = struct.unpack("20H", file.read(40))
for step in range(20):
    reprocheck.log_loss(10 + noise[step])
"""
FAILS = """
import reprocheck, sys
names = {f"item{number}" for number in range(20)}
order = [int(name[4:]) for name in names]
for step in range(20):
    reprocheck.log_loss(10 + order[step])
    assert step < BEHIND or sys.flags.hash_randomization, "an order that this program refuses"
"""
"""Refuses the order that `PYTHONHASHSEED=0` gives, and no other."""
CLEAN = """
import reprocheck
for step in range(20):
    reprocheck.log_loss(1 / (step + 1))
"""
BY_LIST = """
import os, struct, subprocess, reprocheck
path = os.environ["OUTCOMES"]
outcomes = subprocess.check_output(["cat", path], text=True)
left = "." + outcomes[1:] if not outcomes.strip(".") else "." * (outcomes.count(".") + 1) + outcomes.lstrip(".")[1:]
subprocess.run(["tee", path], input=left, text=True, stdout=subprocess.DEVNULL)
odd = outcomes.lstrip(".")[:1] == "o"
with open("/dev/urandom", "rb") as file:
    noise = struct.unpack("20H", file.read(40))
for step in range(20):
    reprocheck.log_loss(10 + (noise[step] + 1) * odd)
"""
"""Takes what each run gives from a file that the recorder does not see, since other programs read
and write it.

`u` stands for the usual losses, `o` for others in every run.
"""


@dataclass(frozen=True, kw_only=True)
class Explained:
    """What a user gets from `reprocheck explain`."""

    exit_code: int
    stdout: str
    stderr: str
    folder: Path
    report: dict[str, Any]
    record: CheckRecord

    @property
    def arms(self) -> list[tuple[tuple[str, ...], int]]:
        """Controls and runs of each arm, in order."""
        return [(arm.controls, len(arm.runs)) for arm in self.record.arms]

    @property
    def further_runs(self) -> int:
        """All runs after the first two."""
        return sum(len(pair.runs) for pair in (*self.record.deeper, *self.record.arms))

    @property
    def confidences(self) -> list[str]:
        """Of the causes, in order."""
        return [cause["confidence"] for cause in self.report["causes"]]


def differing(explained: Explained) -> Explained:
    """A search that several tests share: it is made again where two draws happened to agree."""
    assert explained.report["failed_check"] == "forward"
    return explained


def explain(script: str, workdir: Path, *options: str | Path, **environment: str) -> Explained:
    """`reprocheck explain` of a script in an empty folder."""
    workdir.mkdir(parents=True, exist_ok=True)
    (workdir / "train.py").write_text(script)
    environment = {"REPROCHECK_DRAW": "false", **environment}
    done = reprocheck("explain", *options, "train.py", cwd=workdir, **environment)
    latest = workdir / "reports" / "latest"
    assert latest.exists(), done.stderr
    folder = latest.resolve()
    report = json.loads((folder / "report.json").read_text())
    assert_same_elsewhere(folder, report)
    note_narrow_agreement(folder, report)
    held = record.read(folder)
    return Explained(
        exit_code=done.returncode,
        stdout=done.stdout,
        stderr=done.stderr,
        folder=folder,
        report=report,
        record=held,
    )
