"""Several ranks: losses of each, an early stop at the same iteration, and a report that names the
rank and the rung where runs part.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.child.frameworks.torch.test_trainers import alive
from tests.conftest import Outcome, check, reprocheck
from tests.e2e.pairs import explained

SCRIPTS = Path(__file__).parent / "scripts"
RANKS, TRAINERS = SCRIPTS / "ranks.py", SCRIPTS / "rank_trainers.py"
STEPS = 3

pytestmark = pytest.mark.torch


def printed(text: str, rank: int) -> list[list[float]]:
    """The losses that a rank printed, one an iteration."""
    return [[float.fromhex(loss)] for loss in re.findall(rf"rank {rank} (\S+)$", text, re.M)]


def ranks(outcome: Outcome) -> list[list[int]]:
    """The numbers of the ranks of each run."""
    return [[rank["rank"] for rank in run["ranks"]] for run in outcome.report["runs"]]


def test_each_rank_has_its_losses_and_all_stop_at_the_same_iteration(workdir: Path) -> None:
    command = ("python", str(SCRIPTS / "spawned.py"))
    outcome = check("--steps", str(STEPS), "--", *command, cwd=workdir)
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), (
        outcome.stdout + outcome.stderr
    )
    assert outcome.report["stopped_early"] == STEPS
    assert ranks(outcome) == [[0, 1], [0, 1]]
    for rank in (0, 1):
        expected = printed(outcome.log(), rank)
        assert len(expected) == STEPS
        assert outcome.losses(rank=rank) == outcome.losses(run=2, rank=rank) == expected
    assert outcome.losses(rank=0) != outcome.losses(rank=1)
    assert alive(workdir) == []


def test_report_names_the_rank_that_differs_also_from_a_run_of_two_machines(workdir: Path) -> None:
    outcome = check("--steps", str(STEPS), RANKS, "fault", "2", cwd=workdir)
    assert (outcome.title, outcome.exit_code) == ("NOT REPRODUCIBLE (forward)", 1), (
        outcome.stdout + outcome.stderr
    )
    forward = {
        row["rank"]: row["passed"] for row in outcome.report["checks"] if row["kind"] == "forward"
    }
    assert forward == {0: True, 1: False}
    assert "in iteration 1, rank 1, run 2 has loss" in outcome.report["reason"]
    assert "rank 1" in outcome.stdout
    assert outcome.losses(rank=0)[0] == outcome.losses(run=2, rank=0)[0]
    # DistributedDataParallel averages the gradients: from the second iteration on rank 0 is a
    # victim.
    assert outcome.losses(rank=0)[1] != outcome.losses(run=2, rank=0)[1]

    two_machines(workdir)
    compared = check_recordings("run.zip", outcome.folder, workdir)
    assert (compared.title, compared.exit_code) == ("NOT REPRODUCIBLE (forward)", 1), (
        compared.stdout + compared.stderr
    )
    assert "in iteration 1, rank 1, run 2 has loss" in compared.report["reason"]
    assert ranks(compared) == [[0, 1], [0, 1]]
    assert compared.losses(rank=0)[0] == outcome.losses(rank=0)[0], (
        "the rank without a fault, on another machine"
    )


def free_port() -> str:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def two_machines(workdir: Path) -> None:
    """run.zip: two launchers that know of each other by a port, each recorded by itself, merged."""
    port = free_port()

    def record(node: int) -> subprocess.CompletedProcess[str]:
        where = workdir / f"node{node}"
        where.mkdir()
        launcher = ["torchrun", "--nnodes", "2", "--node-rank", str(node), "--nproc-per-node", "1"]
        there = ["--master-addr", "127.0.0.1", "--master-port", port]
        options = ["--no-explain", "--steps", str(STEPS), "--timeout", "200", "-o", "recorded.zip"]
        return reprocheck("record", *options, "--", *launcher, *there, RANKS, cwd=where)

    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(record, (0, 1)):
            assert done.returncode == 0 and f"{STEPS} iterations" in done.stdout, (
                done.stdout + done.stderr
            )
    merged = reprocheck(
        "merge", "node1/recorded.zip", "node0/recorded.zip", "-o", "run.zip", cwd=workdir
    )
    assert merged.returncode == 0 and "2 nodes, 2 ranks" in merged.stdout, (
        merged.stdout + merged.stderr
    )


def check_recordings(one: str | Path, other: str | Path | None, workdir: Path) -> Outcome:
    """`reprocheck compare`."""
    assert other is not None
    done = reprocheck("compare", one, other, cwd=workdir, REPROCHECK_DRAW="false")
    folder = (workdir / "reports" / "latest").resolve()
    report = json.loads((folder / "report.json").read_text())
    return Outcome(
        exit_code=done.returncode,
        stdout=done.stdout,
        stderr=done.stderr,
        folder=folder,
        report=report,
    )


def test_a_kernel_of_one_rank_of_four(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = explained([sys.executable, RANKS, "kernel", "4"], workdir, monkeypatch)
    assert made.verdict.title == "NOT REPRODUCIBLE (backward)", made.verdict.reason
    assert made.ladder is not None and made.ladder.first_rung is not None
    rung = made.ladder.first_rung
    assert (rung.rung, rung.rank, rung.place, rung.iteration) == (
        "gradient",
        2,
        "module.1.linear",
        1,
    )
    assert made.ladder.sentence.endswith("(rank 2).")
    reduced = made.ladder.rung("reduced gradient")
    assert (
        reduced.status == "differs"
        and reduced.culprit is None
        and "of rank 2 comes before it" in reduced.detail
    )
    assert set(reduced.iterations) == {0, 1, 2, 3}
    assert made.causes[0].code == "RC705"


def test_a_reduction_is_told_from_a_kernel(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = explained([sys.executable, RANKS, "reduction", "2"], workdir, monkeypatch)
    assert made.verdict.title == "NOT REPRODUCIBLE (backward)", made.verdict.reason
    assert made.ladder is not None and made.ladder.first_rung is not None
    rung = made.ladder.first_rung
    assert (rung.rung, rung.iteration, rung.culprit) == (
        "reduced gradient",
        1,
        "the collective that reduces the gradients of the ranks",
    )
    assert made.ladder.sentence.endswith("(on both ranks).")
    assert rung.evidence.local_equal is True
    assert made.runs[0].traces[1].frameworks["torch"], "a fork has it from its parent"


def test_a_kernel_of_one_rank_with_sharded_weights(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = explained([sys.executable, RANKS, "sharded", "2"], workdir, monkeypatch)
    assert made.ladder is not None and made.ladder.first_rung is not None
    rung = made.ladder.first_rung
    assert (rung.rung, rung.rank, rung.place, rung.iteration) == ("gradient", 1, "1.linear", 1), (
        made.ladder.sentence
    )
    assert made.ladder.rung("reduced gradient").status == "differs"
    assert any(
        line.startswith("Ranks 0 and 1: reduced gradients of sharded weights: each rank holds")
        for line in made.coverage
    )


@pytest.mark.parametrize("library", ["lightning", "accelerate"])
def test_a_module_of_one_rank_in_a_loop_of_a_library(
    library: str, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lightning starts rank 1 by itself; `accelerate launch` starts ranks on CPU by mpirun, whose
    variables alone name them.
    """
    command: list[str | Path] = [sys.executable, TRAINERS, library]
    if library == "accelerate":
        if shutil.which("mpirun") is None:
            pytest.skip("no mpirun")
        (workdir / "hosts").write_text("localhost slots=2\n")
        for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
            monkeypatch.setenv(variable, "1")
        launcher = [
            "accelerate",
            "launch",
            "--cpu",
            "--num_processes",
            "2",
            "--num_machines",
            "1",
            "--mpirun_hostfile",
            "hosts",
        ]
        command = [
            *launcher,
            "--main_process_port",
            free_port(),
            "--mixed_precision",
            "no",
            "--dynamo_backend",
            "no",
            TRAINERS,
            library,
        ]
    made = explained(command, workdir, monkeypatch)
    assert made.verdict.title == "NOT REPRODUCIBLE (forward)", made.verdict.reason
    assert "rank 1" in made.verdict.reason
    assert [trace.rank for trace in made.runs[0].traces] == [0, 1]
    assert made.ladder is not None and made.ladder.first_rung is not None
    rung = made.ladder.first_rung
    assert (rung.rung, rung.rank, rung.iteration, rung.operations) == (
        "forward",
        1,
        1,
        ("Noise",),
    ), made.ladder.sentence
    if library == "accelerate":
        assert [[len(trace.losses.losses(i)) for i in (1, 2)] for trace in made.runs[0].traces] == [
            [2, 2],
            [2, 2],
        ]
    assert [one for one in alive(workdir) if not one.startswith(f"{os.getpid()} ")] == []
