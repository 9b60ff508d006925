"""What a search has found out, in sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from reprocheck.language import spoken
from reprocheck.model import Search, Tried
from reprocheck.model.reason import Reason, ReasonKey
from reprocheck.model.statement import Statement
from reprocheck.model.statements.search import (
    ActedAt,
    Agreement,
    AnotherRemains,
    ArmNote,
    Certainty,
    DiffersWithout,
    Moved,
    NamedCause,
    NextToTry,
    PatchesInVain,
    Remains,
    Removes,
    Sample,
    SearchRemark,
    SeenUnder,
)
from reprocheck.rules.operators import known
from reprocheck.wording import progress, say
from reprocheck.wording.search import WHY, named, told, why
from tests.causes.cause_ladders import check, ladder

FOUR = Sample(runs=4, odd=3)
UNDER = Agreement(
    names=("seed",), runs=3, arms=("1-seed", "2-seed"), exact=True, later=None, seen=FOUR
)
PATCHED = replace(UNDER, names=("RC402 train.py:3", "clock"), exact=False)
CAUSE = NamedCause(code="RC301", title="A layer draws", confidence="observed", at="train.py:6")
SUFFICES = Reason(key="suffices")
NOISE = Remains(kind="noise", rung="forward", place="conv", operator="aten::bmm")


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (FOUR, "All 4 unmodified runs differ from each other."),
        (Sample(runs=2, odd=1), "The two unmodified runs differ."),
        (
            Sample(runs=4, odd=2, blind=2),
            "Of 4 unmodified runs, 2 agree with each other and 2 do not (2 of them have a loss that"
            " is not finite and agree with no run): the difference is intermittent.",
        ),
        (
            Sample(runs=4, odd=3, insufficient=1),
            "All 3 unmodified runs differ from each other."
            " One run under controls that do not suffice differs from them, too.",
        ),
        (
            UNDER,
            "Under `seed` 3 runs agree in every bit (arms/1-seed, arms/2-seed);"
            " all 4 unmodified runs differ from each other.",
        ),
        (
            PATCHED,
            "With `clock` and the patch of RC402 train.py:3 3 runs agree except for rounding"
            " (arms/1-seed, arms/2-seed); all 4 unmodified runs differ from each other.",
        ),
        (
            Removes(names=("seed",), under=replace(UNDER, later=5), confirms=(CAUSE,)),
            "`seed` removes the difference: 3 runs under it agree in every bit up to iteration 4."
            " This confirms RC301, a layer draws.",
        ),
        (
            Removes(names=PATCHED.names, under=PATCHED, confirms=(CAUSE, replace(CAUSE, at=""))),
            "`clock` and the patch of RC402 train.py:3 together remove the difference: 3 runs with"
            " them agree except for rounding. None of them can be left out."
            " This confirms RC301, a layer draws.",
        ),
        (
            Removes(names=("seed",), under=UNDER, shown=False),
            "`seed` may remove the difference, but this is not shown: 3 runs under it agree in"
            " every bit, which can be luck.",
        ),
        (
            Certainty(under=UNDER, proving=3, luck=0.081, bound=0.776),
            "All 4 unmodified runs differ from each other. If `seed` had no effect, 3 runs would"
            " still agree in at most 8.1% of such searches. With 95 % confidence, at most 78% of"
            " runs under `seed` differ from the first.",
        ),
        (
            Certainty(
                under=replace(UNDER, seen=replace(FOUR, unlike=True)),
                proving=3,
                luck=0.01,
                bound=0.776,
                wanted=60,
                more=True,
            ),
            "All 4 unmodified runs differ from each other. To rule out luck, more than 60 runs must"
            " agree (--runs N makes more of each); with 95 % confidence, at most 78% of runs under"
            " `seed` differ from the first.",
        ),
        (SearchRemark(kind="broken off"), "The search was ended before it had finished."),
        (
            NextToTry(names=("seed",), why=SUFFICES),
            "Next to try: `seed` (to test whether this set suffices).",
        ),
        (
            NextToTry(names=(), why=Reason(key="more runs", runs=2)),
            "Next to try: 2 more runs, to rule out that they agree by chance.",
        ),
        (
            Moved(names=("seed",), rung="batch", before="RNG state"),
            "`seed` removes a part of the difference: under it the runs first differ on the rung"
            " `batch`, no longer on `RNG state`.",
        ),
        (
            PatchesInVain(fixes=("RC402 train.py:3",)),
            "Runs with the patch of RC402 train.py:3 differ too: it is not the only cause, or not a"
            " cause.",
        ),
        (
            AnotherRemains(iteration=7, further=("--control", "seed")),
            "Another difference remains, from iteration 7 on: `reprocheck explain --control seed`"
            " with the same script looks for it.",
        ),
        (
            DiffersWithout(name="clock", place="train.py:3"),
            "A run differs in which `clock` does not act at train.py:3.",
        ),
        (
            DiffersWithout(name="RC402 train.py:3"),
            "Runs without the patch of RC402 train.py:3 differ.",
        ),
        (
            ActedAt(control="clock", at="train.py:3", what="time.time", first=False, draws=True),
            "`clock` acted at train.py:3 (time.time), which draws random numbers.",
        ),
        (
            ActedAt(
                control="clock",
                at="train.py:3",
                what="time.time",
                first=True,
                draws=False,
                others=(("train.py:9", "datetime.now"),),
            ),
            "`clock` first acted at train.py:3 (time.time)."
            " It also acted at train.py:9 (datetime.now): any of them may be the cause.",
        ),
        (
            SeenUnder(names=("deterministic", "seed")),
            "This was seen under `deterministic` and `seed`; the search continued without them.",
        ),
    ],
)
def test_what_a_search_has_found_out(statement: Statement, sentence: str) -> None:
    assert say(statement) == sentence


@pytest.mark.parametrize(
    ("note", "sentence"),
    [
        (ArmNote(hindrance="as in the check"), "as in the check"),
        (ArmNote(why="a sentence of an older record"), "a sentence of an older record"),
        (
            ArmNote(why=SUFFICES, hindrance="not taken"),
            "no process of a run loaded the patched text: the program reads the file in another way",
        ),
        (
            ArmNote(why=SUFFICES, hindrance="refused", what="bincount", at="train.py:3"),
            "the script failed: bincount at train.py:3 has no deterministic implementation",
        ),
        (
            ArmNote(why=SUFFICES, hindrance="took too long", run=2),
            "run 2 took too long; to test whether this set suffices",
        ),
        (
            ArmNote(why=SUFFICES, hindrance="failed", run=2),
            "run 2 failed; to test whether this set suffices",
        ),
        (
            ArmNote(why=SUFFICES, hindrance="failed", run=2, what="KeyError: 3"),
            "run 2 failed (KeyError: 3); to test whether this set suffices",
        ),
        (
            ArmNote(why=SUFFICES, hindrance="within tolerance"),
            "to test whether this set suffices; within the tolerance, but too far apart for"
            " rounding",
        ),
        (
            ArmNote(why=SUFFICES, hindrance="one run", beside=("seed", "clock")),
            "to test whether this set suffices; one run, compared with those under seed and clock",
        ),
        (
            ArmNote(why=SUFFICES, hindrance="nothing acted"),
            "to test whether this set suffices; nothing recorded shows that it acted",
        ),
    ],
)
def test_why_an_arm_was_made_and_what_stood_in_the_way(note: ArmNote, sentence: str) -> None:
    assert say(note) == sentence


@pytest.mark.parametrize(
    ("remains", "sentence"),
    [
        (
            Remains(kind="idle", idle=("seed",)),
            "No cause is confirmed: runs agree under `seed`, but nothing recorded shows that it"
            " acted, so this may be luck.",
        ),
        (
            Remains(kind="idle", idle=("a", "b", "c", "d")),
            "No cause is confirmed: runs agree under 4 controls at once, but those that acted do"
            " not suffice, so this may be luck.",
        ),
        (
            Remains(kind="few tried", crashing=("deterministic",)),
            "No control was seen to make the runs agree (`deterministic` left out, because the"
            " script fails under it). The difference is intermittent, so few controls were tried:"
            " --runs N tries more.",
        ),
        (
            Remains(kind="nothing recorded", clocks=(("train.py:3", "time.monotonic"),)),
            "No control makes the runs agree, alone or together with others. Nothing that was"
            " recorded differs, so the source of the difference was not recorded. train.py:3 reads"
            " `time.monotonic`: the controls leave monotonic clocks alone, so none can confirm it.",
        ),
        (
            Remains(kind="given", given=("The argument differs.",)),
            "No control makes the runs agree, alone or together with others, because the runs were"
            " given different inputs. The argument differs.",
        ),
        (
            NOISE,
            "No control makes the runs agree, alone or together with others: what remains is noise"
            " of an operator or of the hardware. It comes from `aten::bmm`, and is first seen at"
            " `conv` on the rung `forward`.",
        ),
        (
            Remains(kind="unreached", rung="batch", suspect=CAUSE, culprit="a reader"),
            "No control makes the runs agree, alone or together with others."
            " The observed cause is RC301 at train.py:6, and no control confirms it."
            " It first shows on the rung `batch`. It comes from a reader.",
        ),
    ],
)
def test_what_remains_that_no_control_removes(remains: Remains, sentence: str) -> None:
    assert say(remains) == sentence


def test_of_noise_few_operators_are_told() -> None:
    listed = known("index_add_", device="cuda") * 5
    said = say(replace(NOISE, operators=listed))
    assert said.count("is on the list of") == 3


@pytest.mark.parametrize("second", [True, False])
def test_of_runs_that_follow_from_each_other_the_pairs_are_told(second: bool) -> None:
    said = say(Sample(runs=4, odd=3, pairs=2, second=second, carried=True))
    assert said.startswith("The first run of each of 2 unmodified pairs gives the same, and ")
    assert said.endswith(" A run follows from what the one before it left.")
    assert ("so does the second" in said) is second
    assert "differ from each other" not in said


def test_of_many_controls_the_first_are_named() -> None:
    assert named(()) == "no control"
    fixes = ("RC402 a.py:1", "RC402 a.py:2")
    assert named(("a", "b", "c", "d", "e", *fixes)) == (
        "the 5 controls `a`, `b`, `c` and 2 more and the patches of RC402 a.py:1 and RC402 a.py:2"
    )


@pytest.mark.parametrize(
    ("under", "name"),
    [
        ((), "unmodified"),
        (("seed", "clock"), "seed + clock"),
        (("seed", "RC402 a.py:1"), "seed + the patch of RC402 a.py:1"),
        (("a", "b", "c", "d", "e", "RC402 a.py:1", "RC402 a.py:2"), "5 controls + 2 patches"),
    ],
)
def test_the_next_runs_are_named_by_what_they_are_made_under(
    under: tuple[str, ...], name: str
) -> None:
    assert progress.arm(under) == name


def test_before_it_begins_a_search_says_what_it_may_cost() -> None:
    told_first = "The search takes about {} runs of 1 s, at most 40 (--max-runs)."
    assert progress.cost(4, 9, 40, 0.2) == told_first.format("4 to 9")
    assert progress.cost(4, 4, 40, 1.3) == told_first.format("4")
    assert progress.ends_after(1) == "The search ends after 1 further run, as --max-runs says."


def test_every_reason_has_its_sentence() -> None:
    assert set(WHY) == set(get_args(ReasonKey))
    spoken_for = Reason(key="a cause speaks for it", code="RC402")
    assert why(spoken_for).startswith("it would remove RC402, the seed ")


def test_a_search_is_told_in_english_in_every_language() -> None:
    row = Tried(controls=(), runs=2, agrees=False, bitwise=False, notes=(ArmNote(why=SUFFICES),))
    search = Search(
        tried=(row,),
        statements=(SearchRemark(kind="within tolerance"), Removes(names=("seed",), under=UNDER)),
        certainty=(FOUR,),
        remedies=("one", "two"),
    )
    differs = replace(check(ladder("batch")), search=search)
    english = told(differs).search
    assert english is not None
    assert english.sentence.startswith(
        "The checks pass; what was searched is a difference within the tolerance. `seed` removes "
    )
    assert english.confidence == "All 4 unmodified runs differ from each other."
    assert english.tried[0].note == "to test whether this set suffices"
    assert english.fix == "one\n\ntwo"
    with spoken("zh"):
        assert told(differs).search == english
    unsearched = check(ladder("batch"))
    assert told(unsearched) == unsearched
