"""The sentences of fixes, and what a check is told of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.language import spoken
from reprocheck.model import Cause, Search
from reprocheck.model.statement import Statement
from reprocheck.model.statements import fixes
from reprocheck.model.statements.fixes import (
    AtLines,
    CatalogueFix,
    ControlFix,
    FixValue,
    GiveAlike,
    InNames,
    KeepOrder,
    LeftInFolder,
    Parts,
    SeedCall,
)
from reprocheck.model.statements.inputs import Given
from reprocheck.rules import entry
from reprocheck.wording import say, told
from tests.causes.cause_ladders import check

FILE = Given(kind="input", name="data.bin", first="", second="")
SEEDS = CatalogueFix(code="RC301", keys=("torch cuda", "torch"))
KEY = CatalogueFix(code="RC301", keys=("jax",))
"""A fix that is a sentence."""
SENTENCES: dict[Statement, str] = {
    SEEDS: entry("RC301").fixes["torch"],
    CatalogueFix(code="RC301", keys=()): entry("RC301").fix,
    ControlFix(control="single-thread", key="jax"): "export PJRT_NPROC=1",
    InNames(fix="numpy.random.seed(0)", names=(("numpy", "np"),)): "np.random.seed(0)",
    Parts(parts=("# before\n", LeftInFolder(files=1, folders=2))): (
        "# before\n# 1 file and 2 folders: see Files in the report\n"
    ),
    LeftInFolder(files=13, folders=0): "# 13 files: see Files in the report\n",
    AtLines(fixes=(("a.py:1", "Write `one`."), ("b.py:2", "Write `two`."))): (
        "a.py:1: Write `one`.\nb.py:2: Write `two`."
    ),
    SeedCall(kind="each time"): (
        "Give the generator a seed that is another one each time it is made, in each worker, epoch"
        " and rank, so that the streams stay apart."
    ),
    SeedCall(kind="where its owner is made", call="space.sample", owner="space"): (
        "Give `space` a seed where it is made: `space.sample()` draws from a generator without one."
    ),
    SeedCall(kind="by an argument", call="Sobol"): (
        "`Sobol()` makes a generator without a seed: give it one, by the argument that takes a"
        " seed."
    ),
    KeepOrder(argument="maintain_order"): (
        "Write `maintain_order=True` in the call, or sort its rows."
    ),
    GiveAlike(given=Given(kind="argument", name="--fast", first="", second=None)): (
        "Start every run with the argument `--fast`, or every run without it."
    ),
    GiveAlike(given=Given(kind="argument", name="--lr", first="0.1", second="0.2")): (
        "Start every run with the same argument `--lr`, such as `0.1`."
    ),
    GiveAlike(given=replace(FILE, made=True)): (
        "Seed what the program draws that makes `data.bin`, or make the file once, before the runs"
        " that are compared."
    ),
    GiveAlike(given=FILE): (
        "Keep `data.bin` as it is while runs are compared: pin its version, or give each run a copy"
        " of its own."
    ),
    FixValue(by="$RANDOM"): "Give a fixed value in the command in place of `$RANDOM`.",
    FixValue(by="date", file="run.sh", line=2, fixed="SEED=0"): (
        "Give it a fixed value in line 2 of run.sh: `SEED=0`"
    ),
}


@pytest.mark.parametrize(("remedy", "text"), SENTENCES.items())
def test_a_fix_is_said(remedy: Statement, text: str) -> None:
    assert say(remedy) == text


def test_every_fix_has_its_text() -> None:
    own = {one for one in vars(fixes).values() if getattr(one, "__module__", "") == fixes.__name__}
    assert own == {type(one) for one in SENTENCES}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_check_is_told_what_to_do_in_the_language_that_is_spoken(language: str) -> None:
    cause = Cause(code="RC301", title=entry("RC301").title, confidence="confirmed", remedy=KEY)
    search = Search(tried=(), remedies=(KEY, "random.seed(0)", KEY))
    with spoken(language):
        made = told(replace(check(causes=(cause,)), search=search))
        assert made.search is not None
        assert made.causes[0].fix == say(KEY)
        assert made.search.fix == f"{say(KEY)}\n\nrandom.seed(0)"
    is_english = made.causes[0].title == cause.title
    assert is_english is (language == "en") is (say(KEY) == made.causes[0].fix)
