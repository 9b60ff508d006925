from __future__ import annotations

import os
from pathlib import Path

import pytest

from reprocheck.suite.execution.local_executor import GPUS, NPUS, Machine, more_than, this_machine
from reprocheck.suite.model import Resources


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "davinci0"):
        (tmp_path / name).touch()
    return tmp_path


def test_devices_are_known_by_their_files(dev: Path) -> None:
    machine = this_machine({}, dev)
    assert machine.devices == {GPUS: ("0", "1"), NPUS: ("0",)}
    assert machine.cpus == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("variable", "devices"),
    [("1", ("1",)), ("1, 0", ("1", "0")), ("", ()), ("-1", ()), ("GPU-5a", ("GPU-5a",))],
)
def test_devices_that_the_environment_hides_are_not_given_away(
    dev: Path, variable: str, devices: tuple[str, ...]
) -> None:
    assert this_machine({GPUS: variable}, dev).devices[GPUS] == devices


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        (Resources(cpus=2, gpus=1), ""),
        (Resources(cpus=2.5), "It asks for 2.5 cores, and this machine has 2."),
        (Resources(gpus=2), "It asks for 2 GPUs, and this machine has 1."),
        (Resources(npus=1), "It asks for 1 NPU, and this machine has 0."),
    ],
)
def test_a_target_that_asks_for_more_than_there_is_is_told_so(
    resources: Resources, said: str
) -> None:
    assert more_than(Machine(cpus=2, devices={GPUS: ("0",), NPUS: ()}), resources) == said
