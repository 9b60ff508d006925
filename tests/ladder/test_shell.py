"""Which line of a shell script or a Makefile makes the value that it gives to a training."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reprocheck.ladder.shell import Made, made

TRAIN = "python train.py --seed $SEED --lr 0.1\n"


def found(
    files: Mapping[str, str],
    command: str,
    name: str = "--seed",
    value: str = "17",
    *,
    variable: bool = False,
) -> tuple[str, int, str] | None:
    """File, line, and what the line becomes."""
    origin = made(command.split(), files.get, name, value, variable=variable)
    return (origin.file, origin.line, origin.fixed) if origin is not None else None


@pytest.mark.parametrize(
    ("text", "line", "fixed"),
    [
        (f"#!/bin/sh\n# SEED=1\nSEED=$RANDOM\n{TRAIN}", 3, "SEED=17"),
        (f"export SEED=$(date +%N | sed 's/^0*//')\n{TRAIN}", 1, "export SEED=17"),
        (f"SEED=$$\n{TRAIN}", 1, "SEED=17"),
        (f"SEED=`date +%s`\n{TRAIN}", 1, "SEED=17"),
        (f'SEED="${{SEED:-$RANDOM}}"\n{TRAIN}', 1, 'SEED="${SEED:-0}"'),
        (f"BASE=$RANDOM\nSEED=$((BASE + 1))\n{TRAIN}", 1, "BASE=17"),
        (f"declare -i SEED=RANDOM%100\n{TRAIN}", 1, "declare -i SEED=0%100"),
        (f"SEED=$RANDOM\n{TRAIN}SEED=$$\n", 1, "SEED=17"),
        ("python train.py \\\n  --lr 0.1 \\\n  --seed=$(( RANDOM % 100 ))\n", 3, "--seed=17"),
        ("python train.py --seed $RANDOM$RANDOM\n", 1, "python train.py --seed 17"),
    ],
)
def test_the_line_that_makes_the_value_of_an_argument(text: str, line: int, fixed: str) -> None:
    assert found({"train.sh": text}, "bash train.sh") == ("train.sh", line, fixed)


def test_the_line_that_makes_an_environment_variable() -> None:
    files = {
        "train.sh": "set -e\nexport SEED=$RANDOM\npython train.py\n",
        "one.sh": "LR=1 SEED=$RANDOM python train.py\n",
    }
    assert found(files, "./train.sh", "SEED", variable=True) == ("train.sh", 2, "export SEED=17")
    assert found(files, "sh one.sh", "SEED", variable=True) == (
        "one.sh",
        1,
        "LR=1 SEED=17 python train.py",
    )


def test_a_makefile_is_read_below_the_target_that_is_made() -> None:
    makefile = f"SEED := $(shell date +%s)\n\nother:\n\tpython train.py --seed $$RANDOM\n\nrun:\n\t{TRAIN.replace('$SEED', '$(SEED)')}"
    assert found({"Makefile": makefile}, "make run") == ("Makefile", 1, "SEED := 17")
    assert found({"Makefile": makefile}, "make other") == (
        "Makefile",
        4,
        "python train.py --seed 17",
    )


def test_scripts_that_a_script_names_are_read_too() -> None:
    files = {
        "all.sh": "source env.sh\nbash jobs/one.sh\n",
        "env.sh": "SEED=$RANDOM\n",
        "jobs/one.sh": TRAIN,
    }
    assert found(files, "./all.sh") == ("env.sh", 1, "SEED=17")


def test_a_text_in_the_command_itself_has_no_file() -> None:
    command = ["bash", "-c", "python train.py --seed $RANDOM"]
    assert made(command, {}.get, "--seed", "17") == Made(
        file="", line=1, by="$RANDOM", fixed="python train.py --seed 17"
    )


@pytest.mark.parametrize(
    "text",
    [
        "SEED=42\n" + TRAIN,
        "python train.py --seed 3 --name $RANDOM\n",
        "# python train.py --seed $RANDOM\n",
        "SEED=$1\n" + TRAIN,
        "",
    ],
)
def test_nothing_is_named_where_the_script_does_not_show_it(text: str) -> None:
    assert found({"train.sh": text}, "bash train.sh") is None
