"""The command of a launcher with another number of ranks."""

from __future__ import annotations

import pytest

from reprocheck.errors import UsageError
from reprocheck.resume.launchers import refuse_ranks, with_ranks


@pytest.mark.parametrize(
    ("command", "with_4"),
    [
        ("torchrun --nproc-per-node 2 train.py -n 2", "torchrun --nproc-per-node 4 train.py -n 2"),
        ("torchrun --nproc_per_node=2 train.py", "torchrun --nproc_per_node=4 train.py"),
        ("torchrun train.py", "torchrun --nproc-per-node 4 train.py"),
        ("torchrun --nnodes=1 -m pkg.train", "torchrun --nproc-per-node 4 --nnodes=1 -m pkg.train"),
        (
            "/v/bin/python -m torch.distributed.run --nproc-per-node=2 train.py",
            "/v/bin/python -m torch.distributed.run --nproc-per-node=4 train.py",
        ),
        (
            "accelerate launch --num_processes 2 train.py",
            "accelerate launch --num_processes 4 train.py",
        ),
        ("mpirun -np 2 python train.py", "mpirun -np 4 python train.py"),
        (
            "msrun --worker_num=2 --local_worker_num=2 train.py",
            "msrun --worker_num=4 --local_worker_num=4 train.py",
        ),
    ],
)
def test_the_number_of_ranks_is_replaced_and_the_words_of_the_script_are_not(
    command: str, with_4: str
) -> None:
    assert " ".join(with_ranks(command.split(), 4)) == with_4


@pytest.mark.parametrize(
    "command",
    [
        "python train.py",
        "bash train.sh",
        "accelerate config",
        "torchrun --nnodes 2 --nproc-per-node 2 train.py",
    ],
)
def test_what_is_not_understood_is_refused_with_what_to_do(command: str) -> None:
    with pytest.raises(UsageError) as refused:
        with_ranks(command.split(), 4)
    assert "torchrun" in (refused.value.fix or "")


def test_other_ranks_are_not_checked_together_with_what_needs_the_same() -> None:
    refuse_ranks(4, with_others={"--explain": False, "--interrupt": ""})
    refuse_ranks(0, with_others={"--explain": True})
    with pytest.raises(UsageError, match="--ranks 4 and --interrupt"):
        refuse_ranks(4, with_others={"--explain": False, "--interrupt": "term"})
