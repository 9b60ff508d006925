"""Arguments of two runs, as far as they lead into a training."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.ladder.external_inputs import given_otherwise, names_the_run
from reprocheck.model import Check, OwnVariable
from reprocheck.model.record import Side
from reprocheck.wording import say
from tests.causes.cause_ladders import check


def started(first: str, second: str) -> Check:
    """A check whose two training processes had these command lines, each in a copy of the working
    directory.
    """
    made = check()
    runs = []
    for run, line, workdir in zip(made.runs, (first, second), ("/w/1", "/w/2"), strict=True):
        process = replace(run.traces[0].process, argv=tuple(line.split()))
        runs.append(
            replace(
                run,
                workdir=workdir,
                traces=(replace(run.traces[0], process=process),),
                processes=(process,),
            )
        )
    return replace(made, runs=tuple(runs))


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("python -u train.py --seed 3", "python -u train.py --seed 4", [("--seed", "3", "4")]),
        ("python -m pkg.train lr=0.1 x", "python -m pkg.train lr=0.2 x", [("lr", "0.1", "0.2")]),
        ("python train.py a b", "python train.py a c", [("argument 2", "b", "c")]),
        (
            "python train.py --lora_rank 8",
            "python train.py --lora_rank 16",
            [("--lora_rank", "8", "16")],
        ),
        ("python train.py --fast", "python train.py", [("argument 1", "--fast", None)]),
        ("python /a/train.py --seed 3", "python /b/train.py --seed 3", []),
        (
            "python train.py --master-port 1 --rdzv.endpoint=a:1",
            "python train.py --master-port 2 --rdzv.endpoint=a:2",
            [],
        ),
        ("python train.py --local_rank 0 --rank=3", "python train.py --local_rank 1 --rank=2", []),
        ("python train.py /tmp/x1", "python train.py /tmp/y2", []),
        ("python train.py --out=/w/1/out /w/1/in", "python train.py --out=/w/2/out /w/2/in", []),
        (
            "python -m reprocheck_child.notebook /r1/c n.ipynb 3",
            "python -m reprocheck_child.notebook /r2/c n.ipynb 4",
            [("argument 1", "3", "4")],
        ),
        (
            "python -m reprocheck_child.call f.py main /r1/call",
            "python -m reprocheck_child.call f.py main /r2/call",
            [],
        ),
    ],
)
def test_what_differs_from_start_to_start_by_its_nature_is_left_out(
    first: str, second: str, found: list[tuple[str, str | None, str | None]]
) -> None:
    assert [
        (one.name, one.first, one.second) for one in given_otherwise(started(first, second))
    ] == found


@pytest.mark.parametrize(
    "name",
    [
        "--run-name",
        "--name",
        "--output-dir",
        "--log_dir",
        "--logdir",
        "--tag",
        "--wandb.name",
        "--exp_name",
        "--save-path",
        "RUN_NAME",
    ],
)
def test_what_names_a_run_or_its_results_changes_no_number(name: str) -> None:
    assert names_the_run(name)


@pytest.mark.parametrize(
    "name",
    [
        "--seed",
        "--lr",
        "--model-name",
        "--dataset_name",
        "--data-dir",
        "--checkpoint-dir",
        "argument 1",
        "--config",
    ],
)
def test_what_may_change_numbers_is_not_taken_for_a_name(name: str) -> None:
    assert not names_the_run(name)


def test_what_names_a_run_comes_behind_what_may_change_numbers() -> None:
    both = started("python train.py --run-name a --seed 3", "python train.py --run-name b --seed 4")
    assert [one.name for one in given_otherwise(both)] == ["--seed", "--run-name"]


def test_numbers_in_the_environment_are_compared_and_those_of_libraries_are_not_the_users() -> None:
    made = check()
    runs = [
        replace(
            run,
            traces=(
                replace(
                    run.traces[0],
                    environment={"variable.SEED": seed, "variable.OMP_NUM_THREADS": seed},
                ),
            ),
        )
        for run, seed in zip(made.runs, ("3", "4"), strict=True)
    ]
    assert [
        (one.kind, one.name, one.first, one.second)
        for one in given_otherwise(replace(made, runs=tuple(runs)))
    ] == [("variable", "SEED", "3", "4")]


def test_what_one_run_alone_was_given_is_said_without_a_value_for_the_other() -> None:
    found = given_otherwise(started("python train.py --fast", "python train.py --fast extra"))
    assert [say(one) for one in found] == ["Run 2 alone was given the argument 2, `extra`."]
    found = given_otherwise(started("python train.py 3", "python train.py"))
    assert [say(one) for one in found] == ["Run 1 alone was given the argument 1, `3`."]


def test_a_variable_that_one_run_alone_has_is_named() -> None:
    made = check()
    runs = [
        replace(run, traces=(replace(run.traces[0], environment=facts),))
        for run, facts in zip(
            made.runs,
            ({"python.version": "3"}, {"python.version": "3", "variable.SEED": "4"}),
            strict=True,
        )
    ]
    found = given_otherwise(replace(made, runs=tuple(runs)))
    assert [say(one) for one in found] == [
        "Run 2 alone was given the environment variable `SEED`, `4`."
    ]


def test_a_variable_that_the_program_sets_is_nothing_that_a_rank_was_given() -> None:
    """As `seed_everything` does before it starts ranks, which are given what it has set."""
    made = check()
    runs = [
        replace(
            run,
            traces=(replace(run.traces[0], environment={"variable.PL_GLOBAL_SEED": seed}),),
            own_variables={"PL_GLOBAL_SEED": OwnVariable(value=seed, line="train.py:3")},
        )
        for run, seed in zip(made.runs, ("17", "18"), strict=True)
    ]
    assert given_otherwise(replace(made, runs=tuple(runs))) == ()


def test_a_variable_that_one_of_two_machines_has_is_not_held_against_it() -> None:
    made = check()
    sides = (
        {"python.version": "3", "variable.LR": "1"},
        {"python.version": "3", "variable.LR": "2", "variable.JOBS": "4"},
    )
    runs = tuple(
        replace(run, traces=(replace(run.traces[0], environment=facts),))
        for run, facts in zip(made.runs, sides, strict=True)
    )
    side = Side(name="a", entry_point=made.record.entry_point, started="", reprocheck_version="")
    record = replace(made.record, compared=(side, replace(side, name="b")))
    assert [one.name for one in given_otherwise(replace(made, runs=runs, record=record))] == ["LR"]
