"""Conditions that the text decides: what can be None, and what cannot."""

from __future__ import annotations

import pytest

from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

PROGRAM = """\
import os, sys
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
args = parser.parse_args()
rank = int(sys.argv[1])


def set_seed(seed=None):
    if seed is None:
        seed = os.getpid()
    torch.manual_seed(seed)


set_seed({argument})
torch.nn.Linear(2, 1)(torch.ones(2)).backward()
"""


def of_program(text: str) -> list[str]:
    """The codes of a program, without that of an option that is not read: few of these read it."""
    found = findings(of_text({"train.py": text}))
    return [one.code for one in found if one.code != "RC410" and one.severity != "note"]


def codes(argument: str) -> list[str]:
    return of_program(PROGRAM.format(argument=argument))


@pytest.mark.parametrize(
    "argument",
    [
        *(
            "1234 + rank",
            "rank * 2 ** 3",
            "-rank",
            "not rank",
            "rank > 3",
            "int(sys.argv[2])",
            "len(sys.argv)",
            "hash('a') % 7 if 0 else 3",
        ),
        *(
            "3 if rank else 4",
            "abs(rank) or 5",
            "args.seed or 7",
            "sum([rank])",
            "[rank]",
            "round(2.5)",
            "f'{rank}'",
            "max(rank, 1)",
        ),
    ],
)
def test_what_cannot_be_none_does_not_take_the_branch_for_none(argument: str) -> None:
    assert codes(argument) == []


@pytest.mark.parametrize(
    "argument",
    ["", "None", "args.seed", "args.seed and 3", "None if rank else 3", "{'a': None}['a']"],
)
def test_what_may_be_none_takes_it(argument: str) -> None:
    assert codes(argument) == ["RC404"]


@pytest.mark.parametrize("test", ["if seed == None:", "match seed:\n        case None:"])
@pytest.mark.parametrize(
    ("argument", "expected"), [("1234", []), ("1234 + rank", []), ("None", ["RC404"])]
)
def test_every_way_to_ask_for_none_is_decided_alike(
    test: str, argument: str, expected: list[str]
) -> None:
    body = "            seed = os.getpid()" if "match" in test else "        seed = os.getpid()"
    text = PROGRAM.format(argument=argument).replace(
        "if seed is None:\n        seed = os.getpid()", f"{test}\n{body}"
    )
    assert of_program(text) == expected


def test_an_object_of_the_users_may_call_itself_equal_to_none() -> None:
    seeds = PROGRAM.format(argument="Number()").replace("seed is None", "seed == None")
    text = f"class Number:\n    def __eq__(self, other): return True\n{seeds}"
    assert "RC404" in [one.code for one in findings(of_text({"train.py": text}))]
