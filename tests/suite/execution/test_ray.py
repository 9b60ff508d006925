"""A night on a real Ray cluster of two nodes, one of which is killed midway."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reprocheck.errors import UsageError
from reprocheck.suite.execution import Job
from reprocheck.suite.history import open_history
from reprocheck.suite.model import TargetCheck, TargetState
from reprocheck.suite.night import Options, Outcome, run
from reprocheck.suite.targets import load
from tests.suite.cluster import GROUP, Nodes
from tests.suite.nights import GOOD, Told

ray = pytest.importorskip("ray")

from reprocheck.suite.execution.ray_cluster import RayExecutor  # noqa: E402

pytestmark = pytest.mark.xdist_group(GROUP)

WAITS = f"""
import time
from pathlib import Path
Path("started").touch()
while not Path("go").exists():
    time.sleep(0.02)
{GOOD}
"""
DEVICES = f"import os\nprint(os.environ['ASCEND_RT_VISIBLE_DEVICES'], flush=True)\n{GOOD}"
SETTINGS = """
draw = false
explain = false
workdir = "copy"
[[target]]
name = "anywhere"
run = "good.py"
[[target]]
name = "on a node that dies"
run = "waits.py"
workdir = "inplace"
folder = "alone"
needs = {npus = 1}
[[target]]
name = "with a device"
run = "devices.py"
needs = {npus = 1}
[[target]]
name = "too large"
run = "good.py"
needs = {cpus = 2}
"""


@dataclass
class Kills(Told):
    """Kills the node once the check that waits there has begun."""

    nodes: Nodes
    folder: Path
    losses: list[str] = field(default_factory=list)
    checks: list[tuple[TargetCheck, bool]] = field(default_factory=list)

    def tick(self) -> None:
        started, go = self.folder / "started", self.folder / "go"
        if started.exists() and not go.exists():
            self.nodes.kill()
            go.touch()

    def started(self, job: Job) -> None: ...


@pytest.fixture(scope="module")
def night(nodes: Nodes, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Kills, Path]:
    folder = tmp_path_factory.mktemp("suite")
    alone = folder / "alone"
    alone.mkdir()
    (folder / "reprocheck.toml").write_text(SETTINGS)
    (folder / "good.py").write_text(GOOD)
    (folder / "devices.py").write_text(DEVICES)
    (alone / "waits.py").write_text(WAITS)
    suite = load(folder)
    kills = Kills(nodes, alone)
    with (
        open_history(suite.history) as history,
        RayExecutor(nodes.address) as executor,
    ):
        outcome = run(suite, history, executor, Options(record=False), kills)
        assert len(history.checks()) == len(outcome.checks)
    return outcome, kills, suite.folder


def state(outcome: Outcome, name: str) -> TargetState:
    return next(one for one in outcome.states if one.target == name)


def test_a_night_on_a_cluster_loses_nothing_with_a_node(
    night: tuple[Outcome, Kills, Path],
) -> None:
    outcome, kills, _ = night
    assert kills.losses == ["on a node that dies"]
    assert {check.target: (check.verdict, check.attempt) for check in outcome.checks} == {
        "anywhere": ("reproducible", 1),
        "on a node that dies": ("reproducible", 1),
        "with a device": ("reproducible", 1),
    }
    assert outcome.night.executor == "ray"


def test_reports_come_back_from_the_nodes(night: tuple[Outcome, Kills, Path]) -> None:
    outcome, _, folder = night
    for check in outcome.checks:
        assert (folder / check.folder / "report.json").is_file()
        assert check.curves


def test_both_runs_have_the_device_that_ray_gave_the_check(
    night: tuple[Outcome, Kills, Path],
) -> None:
    outcome, _, folder = night
    check = next(one for one in outcome.checks if one.target == "with a device")
    logs = [folder / check.folder / f"run-{number}" / "stdout.log" for number in (1, 2)]
    assert [log.read_text().strip() for log in logs] == ["0", "0"]


def test_a_target_that_fits_on_no_node_is_not_run(night: tuple[Outcome, Kills, Path]) -> None:
    outcome, _, _ = night
    too_large = state(outcome, "too large")
    assert too_large.state == "not run"
    assert too_large.sentence == "It asks for 2 CPU, and no node of the cluster has that."


def test_an_interrupted_night_leaves_no_task(nodes: Nodes, tmp_path: Path) -> None:
    (tmp_path / "reprocheck.toml").write_text('[[target]]\nname = "a"\nrun = "waits.py"\n')
    (tmp_path / "waits.py").write_text(WAITS)
    suite = load(tmp_path)

    class Interrupts(Told):
        def tick(self) -> None:
            if (tmp_path / "started").exists():
                raise KeyboardInterrupt

    with (
        open_history(suite.history) as history,
        pytest.raises(KeyboardInterrupt),
        RayExecutor(nodes.address) as executor,
    ):
        run(suite, history, executor, Options(), Interrupts())
    assert not ray.is_initialized()
    assert [path for path in Path("/proc").glob("[0-9]*/cwd") if _is(path, tmp_path)] == []


def _is(link: Path, folder: Path) -> bool:
    try:
        return link.resolve() == folder
    except OSError:
        return False


def test_a_cluster_that_is_not_there_is_an_error_for_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: object) -> None:
        raise ConnectionError("Could not find any running Ray instance. Please specify one.")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(UsageError, match="Could not find any running Ray instance") as error:
        RayExecutor("auto").__enter__()
    assert "ray start --head" in error.value.fix


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reprocheck.suite.execution.ray_cluster.find_spec", lambda name: None)
    with pytest.raises(UsageError) as error:
        RayExecutor("auto")
    assert error.value.fix == 'pip install "reprocheck[ray]"'


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_what_is_no_ray_is_said_soon(answer: bytes) -> None:
    """Ray itself would try for minutes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        speaks = threading.Thread(target=_answer, args=(server, answer))
        speaks.start()
        with pytest.raises(UsageError, match="no Ray"), RayExecutor(f"127.0.0.1:{port}"):
            raise AssertionError("it is no cluster")
        speaks.join()
    with pytest.raises(UsageError, match="refused"), RayExecutor(f"127.0.0.1:{port}"):
        raise AssertionError("nothing listens there")


def _answer(server: socket.socket, answer: bytes) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(64)
        connection.sendall(answer)
