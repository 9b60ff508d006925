"""`reprocheck explain` as a user sees it: what it finds, how sure it is, how few runs that takes,
and what it does not claim.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import reprocheck as package
from reprocheck.recording import record
from reprocheck.report import next_command, to_json
from reprocheck.search.length import length
from reprocheck.search.request import Answer, Candidates, Question
from reprocheck.search.sets import find
from tests.conftest import ROOT, clean_environment, reprocheck
from tests.e2e.explain.explaining import (
    AND_LATER,
    BY_LIST,
    CLEAN,
    FAILS,
    NATIVE,
    PRIVATE,
    TWO_CAUSES,
    Explained,
    explain,
)

SCHEMA = json.loads((ROOT / "reprocheck" / "report" / "report.schema.json").read_text())


def test_one_cause_is_confirmed_in_few_runs(private: Explained) -> None:
    assert private.exit_code == 1, "the exit code is that of the verdict"
    assert private.report["verdict"] == "not_reproducible"
    controls = private.report["controls"]
    assert controls["smallest"] == ["private-rng"]
    assert private.arms[0] == (("private-rng",), 2), (
        "all six unmodified runs differ, and the ladder points to it"
    )
    assert private.further_runs <= 8
    assert [
        (row["controls"], row["runs"], row["agrees"], row["bitwise"]) for row in controls["tried"]
    ] == [
        ([], 2, False, False),
        (["private-rng"], 2, True, True),
        ([], 2, True, True),
    ]
    assert [row["patched"] for row in controls["tried"]] == [False, False, True]
    assert any(
        touch["control"] == "private-rng" and touch["count"] == 1 for touch in controls["touched"]
    )


def test_the_confirmed_cause_names_the_arms_and_the_fix(private: Explained) -> None:
    cause = private.report["causes"][0]
    assert (cause["code"], cause["confidence"]) == ("RC601", "confirmed")
    assert "`private-rng` 2 runs agree in every bit (arms/1-private-rng)" in cause["evidence"][0]
    assert private.report["controls"]["fix"] == cause["fix"] != ""
    assert "95 % confidence, at most 95% of runs" in private.report["controls"]["confidence"]


def test_the_patch_is_tried_and_written_where_it_was_asked_for(private: Explained) -> None:
    patch = private.report["controls"]["patch"]
    assert (
        "--- a/train.py\n+++ b/train.py\n" in patch
        and "\n-rng = random.Random()\n+rng = random.Random(0)\n" in patch
    )
    workdir = private.folder.parent.parent
    assert (workdir / "fix.patch").read_text() == patch
    assert "The patch is in fix.patch: `patch -p1 < fix.patch` applies it." in " ".join(
        private.stderr.split()
    )
    assert (workdir / "train.py").read_text() == PRIVATE, "the user's file is left alone"
    assert "2 runs with it, without any control, agree in every bit." in " ".join(
        private.stdout.split()
    )


SEVERAL = """
import random, reprocheck, time
import numpy as np

time.sleep(random.random() / 1000)
jitter = random.Random()
noise = np.random.default_rng()
unused = random.Random()
names = list({f"name{number}" for number in range(40)})
unused.random()
for step in range(20):
    order = int(names[step][4:])
    shift = np.random.normal()
    reprocheck.log_loss(10 * jitter.random() + noise.normal() + order + shift)
"""


def test_several_causes_are_confirmed_each_at_its_line(tmp_path: Path) -> None:
    """Two generators without a seed, the order of a set, and a draw from NumPy's own generator:
    three controls. Draws that only say how long to wait, and a generator of which nothing depends,
    are no cause, although controls act on them.
    """
    explained = explain(SEVERAL, tmp_path / "work")
    found = explained.report["controls"]
    assert sorted(found["smallest"]) == ["hash-seed", "private-rng", "seed"]
    proven = [one for one in explained.report["causes"] if one["confidence"] == "confirmed"]
    lines = {one["source"]["line"]: one["code"] for one in proven}
    assert sorted(lines) == [6, 7, 9, 13], lines
    assert lines[9] == "RC505" and lines[13] == "RC406"
    without = [row for row in found["tried"] if "to test the set without" in row["note"]]
    assert {row["runs"] for row in without} == {1}, without
    struck_off = [row["note"] for row in without if row["bitwise"]]
    assert len(struck_off) == 1 and "what private-rng does at train.py:8" in struck_off[0]
    assert explained.further_runs <= 15, "two for the ladder, two for the patch, two alone"


def test_what_parts_later_is_another_difference(tmp_path: Path) -> None:
    explained = explain(AND_LATER, tmp_path / "work")
    found = explained.report["controls"]
    assert found["smallest"] == ["private-rng"]
    assert "in every bit up to iteration 6" in found["sentence"]
    assert (
        "Another difference remains, from iteration 7 on: `reprocheck explain --control private-rng`"
        in found["sentence"]
    )
    assert found["tried"][1]["agrees"] and not found["tried"][1]["bitwise"]
    assert [(row["another_from"], row["diverges_from"]) for row in found["tried"]] == [
        (None, 1),
        (7, 7),
        (7, 7),
    ]
    assert (
        "agree in every bit until iteration 6; another difference remains, from iteration 7 on."
        in " ".join(explained.stdout.split())
    )
    assert (
        next_command(package.load(explained.folder))[1]
        == "reprocheck explain --control private-rng train.py"
    )


def test_a_difference_that_remains_within_the_tolerance_is_looked_for_bit_by_bit(
    tmp_path: Path,
) -> None:
    small = AND_LATER.replace("(1 + noise[step]", "(1e-9 * (1 + noise[step])")
    assert small != AND_LATER
    explained = explain(small, tmp_path / "work")
    assert [row["diverges_from"] for row in explained.report["controls"]["tried"]] == [
        1,
        None,
        None,
    ]
    command = next_command(package.load(explained.folder))[1]
    assert command == "reprocheck explain --control private-rng train.py"


def test_a_difference_that_the_checks_allow_is_searched_and_the_words_say_that_they_pass(
    tmp_path: Path,
) -> None:
    script = PRIVATE.replace("10 * rng.random()", "10 + (step > 0) * 1e-4 * rng.random()")
    passes = explain(script, tmp_path / "work")
    controls = passes.report["controls"]
    assert (passes.exit_code, passes.report["verdict"]) == (0, "reproducible")
    assert controls["smallest"] == ["private-rng"]
    assert controls["sentence"].startswith("The checks pass; what was searched is")
    assert passes.report["causes"][0]["confidence"] == "confirmed"


def test_the_terminal_says_it_within_80_columns(private: Explained) -> None:
    for text in (
        "(confirmed)",
        "proof",
        "`private-rng` removes the difference",
        "patch",
        "agree in every bit",
    ):
        assert text in private.stdout
    rows = [row for row in private.stdout.splitlines() if not row.startswith("    ")]
    assert max(map(len, rows)) <= 80
    assert "trying private-rng: it would remove RC601" in private.stderr.replace("\n", " ")


def test_a_search_takes_no_more_runs_than_it_says_at_most(private: Explained) -> None:
    check = package.load(private.folder)
    made = sum(len(arm.runs) for arm in check.record.arms)
    begun = replace(check, record=replace(check.record, arms=()))
    expected = length(begun, private.folder)
    assert expected.least <= made <= expected.most <= 30
    said = " ".join(private.stderr.split())
    assert f"takes about {expected.least} to {expected.named} runs of" in said


def test_a_search_that_may_take_few_runs_says_what_it_would_try_next(tmp_path: Path) -> None:
    ended = explain(TWO_CAUSES, tmp_path / "work", "--max-runs", "3")
    controls = ended.report["controls"]
    assert sum(runs for _, runs in ended.arms) <= 3 and ended.exit_code == 1
    assert controls["sentence"] == "The search was ended before it had finished."
    assert controls["confidence"].startswith("Next to try: ")
    assert "as --max-runs says" in " ".join(ended.stderr.split())
    assert "--max-runs" not in next_command(package.load(ended.folder))[1]


def test_the_steps_of_a_search_in_the_report_lead_to_its_set(two_causes: Explained) -> None:
    """Played through again without starting anything."""
    controls = two_causes.report["controls"]
    rows = controls["tried"][1:]
    assert all(row["reason"] for row in rows)
    steps = {(frozenset(row["controls"]), tuple(row["spared"])): row for row in rows}

    def ask(question: Question) -> Answer:
        spared = tuple(one.replace("@", " at ") for one in question.spared)
        row = steps[frozenset(question.controls), spared]
        acted = frozenset(row["acted"])
        return Answer(agrees=row["suffices"], runs=question.runs, acted=acted)

    named = max((row["controls"] for row in rows), key=len)
    among = Candidates(likely=(), suspects=named, sure=named, harmless=named)
    found = find(among, ask, lambda names, answer: answer.runs)
    assert list(found.smallest) == controls["smallest"]


def test_redrawn_from_its_folder_it_says_the_same(
    private: Explained, two_causes: Explained, refuses: Explained
) -> None:
    for explained in (private, two_causes, refuses):
        again = json.loads(json.dumps(to_json(package.load(explained.folder))))
        assert again["controls"] == explained.report["controls"]
        assert again["causes"] == explained.report["causes"]
        jsonschema.validate(explained.report, SCHEMA)


def test_two_causes_need_two_controls(two_causes: Explained) -> None:
    controls = two_causes.report["controls"]
    assert controls["smallest"] == ["private-rng", "clock"]
    assert two_causes.confidences[:2] == ["confirmed", "confirmed"]
    assert "None of them can be left out" in controls["sentence"]
    assert "RC601" in controls["sentence"] and "RC604" in controls["sentence"], (
        "what the clock gives here is no seed"
    )


def test_an_error_of_deterministic_mode_is_a_finding_and_not_the_end(refuses: Explained) -> None:
    cause = refuses.report["causes"][-1]
    assert (cause["code"], cause["confidence"]) == ("RC008", "observed")
    assert any("scatter_reduce_two" in text for text in cause["evidence"])
    assert cause["source"] == {"file": "train.py", "line": 5}
    failed = [row for row in refuses.report["controls"]["tried"] if row["agrees"] is None]
    assert [
        ("deterministic" in row["controls"], "scatter_reduce_two" in row["note"]) for row in failed
    ] == [(True, True)]
    assert len(refuses.arms) == 5, "the search continued without it"


@pytest.mark.parametrize(
    ("behind", "arms"),
    [
        ("5", {("failed", 0)}),
        ("0", {("failed", 0), ("stopped", 1)}),
    ],
    ids=["late", "at once"],
)
def test_runs_that_fail_alike_are_evidence_and_else_another_value_is_tried(
    tmp_path: Path, behind: str, arms: set[tuple[str, int]]
) -> None:
    fails = explain(FAILS.replace("BEHIND", behind), tmp_path / "work")
    of_control = [arm for arm in fails.record.arms if arm.controls == ("hash-seed",)]
    assert {(run.ended, arm.value) for arm in of_control for run in arm.runs} == arms
    assert fails.report["controls"]["smallest"] == ["hash-seed"]
    assert fails.report["causes"][0]["code"] == "RC505" and fails.confidences[0] == "confirmed"


def test_what_no_control_reaches_is_said(refuses: Explained) -> None:
    controls = refuses.report["controls"]
    assert (refuses.exit_code, controls["smallest"], controls["fix"]) == (1, [], "")
    assert (
        "No control makes the runs agree" in controls["sentence"]
        and "`deterministic` left out" in controls["sentence"]
    )
    assert "confirmed" not in refuses.confidences
    assert {"dropout-off", "data-order", "augment-off"} <= set(controls["tried"][-1]["controls"])


def test_a_clean_script_needs_no_further_run(tmp_path: Path) -> None:
    clean = explain(CLEAN, tmp_path / "work")
    assert (
        clean.exit_code,
        clean.report["controls"],
        clean.report["causes"],
        clean.further_runs,
    ) == (0, None, [], 0)
    assert "nothing to explain" in clean.stderr


def test_a_difference_that_comes_and_goes_is_not_confirmed_by_luck(tmp_path: Path) -> None:
    """The runs differ as they are, and again at level module; every later run agrees, so each
    control seems to help.
    """
    outcomes = tmp_path / "outcomes.txt"
    outcomes.write_text("uouo" + "u" * 80)
    lucky = explain(BY_LIST, tmp_path / "work", OUTCOMES=str(outcomes))
    assert lucky.exit_code == 1
    assert (lucky.report["controls"]["smallest"], "confirmed" in lucky.confidences) == ([], False)
    assert "is intermittent" in lucky.report["controls"]["confidence"]
    assert max(runs for _, runs in lucky.arms) == 8, "N runs an arm"


def test_an_arm_ends_with_the_first_runs_that_differ(tmp_path: Path) -> None:
    """The difference is intermittent, so an arm is to have N runs; its first two differ, which
    decides it.
    """
    outcomes = tmp_path / "outcomes.txt"
    outcomes.write_text("uouo" + "uuuu" + "uo" * 40)
    explained = explain(BY_LIST, tmp_path / "work", OUTCOMES=str(outcomes))
    assert explained.report["controls"]["smallest"] == []
    assert "is intermittent" in explained.report["controls"]["confidence"]
    assert {runs for controls, runs in explained.arms if controls} == {2}


def test_agreement_that_does_not_last_is_dropped(tmp_path: Path) -> None:
    """All unmodified runs differ; two under the second control agree with each other and with one of
    those, the third does not.
    """
    outcomes = tmp_path / "outcomes.txt"
    outcomes.write_text("uooo" + "oo" + "uu" + "o" * 80)
    unseen_by_the_scan = "exec('import random; random.Random()')"
    acting = unseen_by_the_scan + BY_LIST
    explained = explain(acting, tmp_path / "work", OUTCOMES=str(outcomes))
    assert (explained.report["controls"]["smallest"], "confirmed" in explained.confidences) == (
        [],
        False,
    )
    tried = [
        (row["controls"], row["runs"], row["agrees"])
        for row in explained.report["controls"]["tried"]
    ]
    assert tried[1:3] == [(["hash-seed"], 2, False), (["private-rng"], 3, False)]


def test_interrupted_it_keeps_what_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        NATIVE.replace("import reprocheck", "import os, reprocheck, time").replace(
            "for step",
            'if "arms/2" in os.environ["REPROCHECK_CHILD"]: open("reports/ready", "w").close(), time.sleep(600)\nfor step',
        )
    )
    command = [sys.executable, "-m", "reprocheck", "explain", "train.py"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "reports" / "ready").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130 and "kept in" in said.replace("\n", " ")
    check = package.load(tmp_path / "reports" / "latest")
    assert len(record.read(tmp_path / "reports" / "latest").arms[0].runs) == 2
    assert (
        check.search is not None
        and check.search.smallest == ()
        and "ended before it had finished" in check.search.sentence
    )


def test_mistakes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PRIVATE)
    for words, said in (
        ((), "reprocheck explain train.py"),
        (("--write-patch", str(tmp_path), "train.py"), "is a folder"),
        (("--write-patch", "no/such/folder/fix.patch", "train.py"), "there is no folder"),
        (("torchrun", "train.py"), "reprocheck explain -- torchrun train.py"),
    ):
        done = reprocheck("explain", *words, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr.replace("\n     ", " "), done.stderr
    assert not (tmp_path / "reports").exists()
