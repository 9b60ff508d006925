"""The corpus: its rules, and a fixed part of it, checked as a user would.

`python -m benchmarks.corpus` checks all of it.
"""

from __future__ import annotations

import ast
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.corpus import table, varied
from benchmarks.corpus.judging import (
    Judged,
    Said,
    Starts,
    agreed_narrowly,
    faults,
    is_at,
    judge,
    read,
    starts_in,
    unproven,
)
from benchmarks.corpus.pairs import SCRIPTS, Pair, load
from reprocheck import rules
from reprocheck.model import RUNGS
from reprocheck.settings import controls, variations
from tests.conftest import UNCOMPILED

PAIRS = load()
VARIED = varied.load()
VARIED_CHECKED = ("numpy_listed_shards", "numpy_terminal_columns", "torch_host_seed")
FAST = [pair for pair in PAIRS if pair.fast]
LINES = 50


@pytest.mark.torch
@pytest.mark.parametrize("pair", FAST, ids=lambda pair: pair.name)
def test_cause_is_named_and_nothing_is_blamed_in_the_twin(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", UNCOMPILED)
    judged = judge(pair, tmp_path)
    assert judged.wrong == (), (judged.bad, judged.twin)


def test_the_fixed_part_is_a_cross_section() -> None:
    assert len({pair.loop for pair in FAST}) == len({pair.rungs for pair in FAST}) == len(FAST) == 3
    assert {verdict for pair in FAST for verdict in pair.verdicts} == {
        "NOT REPRODUCIBLE (forward)",
        "NOT REPRODUCIBLE (backward)",
    }


def test_every_script_has_a_row() -> None:
    helpers = {"torch/seed_from_environment.py", "torch/seed_from_environment_fixed.py"}
    scripts = {str(path.relative_to(SCRIPTS)) for path in SCRIPTS.glob("*/*.*")}
    scripts = {name for name in scripts if not name.startswith(("several/", "varied/"))}
    assert scripts - helpers == {name for pair in PAIRS for name in (pair.script, pair.twin)}
    assert len(PAIRS) >= 40


def test_each_script_with_several_causes_has_a_row_and_holds_the_lines_that_it_names() -> None:
    rows = tomllib.loads((SCRIPTS.parent / "several.toml").read_text())["script"]
    texts = {path.stem: path.read_text() for path in (SCRIPTS / "several").iterdir()}
    assert sorted(row["name"] for row in rows) == sorted(texts) and len(rows) >= 12
    causes = [(texts[row["name"]], cause) for row in rows for cause in row["cause"]]
    assert [cause["line"] for text, cause in causes if text.count(cause["line"]) != 1] == []
    known = {entry.code for entry in rules.catalogue()}
    assert {code for _, cause in causes for code in cause["codes"]} <= known
    assert all(2 <= len(row["cause"]) <= 4 for row in rows)


def test_each_varied_script_has_a_row_and_holds_the_line_that_it_names() -> None:
    texts = {path.stem: path.read_text() for path in (SCRIPTS / "varied").glob("*.py")}
    assert sorted(texts) == sorted(
        name for row in VARIED for name in (row.name, f"{row.name}_fixed")
    )
    assert [row.name for row in VARIED if row.line and texts[row.name].count(row.line) != 1] == []
    known = {row.name for row in variations.table() if row.default}
    assert {row.variation for row in VARIED} <= known
    assert sum(not row.intermittent for row in VARIED) >= 24


@pytest.mark.torch
@pytest.mark.parametrize("name", VARIED_CHECKED)
def test_a_script_that_agrees_with_itself_is_seen_to_depend_on_what_is_other_elsewhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", UNCOMPILED)
    row = varied.judged(next(row for row in VARIED if row.name == name), tmp_path)
    assert row.wrong == () and row.pairs == 3, row


@pytest.mark.parametrize(
    "path",
    sorted(path for path in SCRIPTS.glob("*/*.py") if path.parent.name != "several"),
    ids=lambda path: path.stem,
)
def test_script_is_short_and_says_what_is_planted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text)) or ""
    assert len(text.splitlines()) <= LINES
    assert said.startswith("The fix of ") if path.stem.endswith("_fixed") else "lanted" in said


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_expectations_are_words_of_the_model(pair: Pair) -> None:
    assert set(pair.rungs) <= set(RUNGS)
    assert set(pair.codes) <= {entry.code for entry in rules.catalogue()}
    assert bool(pair.codes) is bool(pair.rungs)
    assert set(pair.fixed_by or ()) <= {control.name for control in controls.table()}
    assert pair.fixed_by is not None or not pair.codes or pair.chance, (
        "explain is asked for what fixes it"
    )


def report(**more: object) -> dict[str, object]:
    rung = {"rung": "initial weights", "status": "differs", "place": "0.weight", "detail": "…"}
    return {
        "verdict": "not_reproducible",
        "failed_check": "forward",
        "bitwise": {"equal": False},
        "ladder": {
            "rungs": [{"rung": "environment", "status": "equal"}, rung],
            "first": "initial weights",
        },
        "causes": [{"code": "RC301", "confidence": "observed"}],
        **more,
    }


CLEAN = read(
    {
        "verdict": "reproducible",
        "failed_check": None,
        "bitwise": {"equal": True},
        "ladder": None,
        "causes": [],
    }
)
PAIR = Pair(
    script="torch/a.py",
    twin="torch/a_fixed.py",
    loop="plain loop",
    verdicts=("NOT REPRODUCIBLE (forward)",),
    rungs=("initial weights",),
    places=("0.weight",),
    codes=("RC301",),
)


@pytest.mark.parametrize(
    ("bad", "twin", "wrong"),
    [
        (read(report()), CLEAN, []),
        (CLEAN, CLEAN, ["verdict", "rung", "place", "cause"]),
        (read(report(failed_check="backward")), CLEAN, ["verdict"]),
        (read(report(ladder=None)), CLEAN, ["rung", "place"]),
        (read(report(causes=[])), CLEAN, ["cause"]),
        (
            read(
                report(
                    causes=[
                        {"code": "RC302", "confidence": "observed"},
                        {"code": "RC301", "confidence": "observed"},
                    ]
                )
            ),
            CLEAN,
            ["cause"],
        ),
        (read(report()), read(report()), ["twin", "twin causes"]),
        (read(report()), read({"verdict": "reproducible", "bitwise": {"equal": False}}), ["twin"]),
        (replace(read(report()), settled=False), CLEAN, ["drawn again"]),
    ],
)
def test_what_is_wrong_is_found(bad: Said, twin: Said, wrong: list[str]) -> None:
    assert faults(PAIR, bad, twin) == wrong


def test_the_line_and_the_fix_of_the_first_cause_are_asked_for_where_they_are_known(
    tmp_path: Path,
) -> None:
    script = tmp_path / "a.py"
    script.write_text("import torch\n    net = torch.nn.Linear(4, 1)\n")
    cause = {
        "code": "RC301",
        "confidence": "observed",
        "fix": "torch.manual_seed(0)",
        "source": {"file": str(script), "line": 2},
    }
    said = read(report(causes=[cause]))
    assert said.line == "net = torch.nn.Linear(4, 1)"
    right = replace(
        PAIR, lines=("torch.nn.Linear(4",), fixes=("numpy.random.seed", "torch.manual_seed")
    )
    assert faults(right, said, CLEAN) == []
    assert faults(right, read(report()), CLEAN) == ["line", "fix"]
    row = Judged(pair=right, bad=said, twin=CLEAN, wrong=("fix",))
    assert {"- line: 1 of 1 right", "- fix: 0 of 1 right"} <= set(table.totals([row]))
    assert not any("line" in text for text in table.totals([replace(row, pair=PAIR)]))


@pytest.mark.parametrize(
    ("fixed_by", "smallest", "confidence", "wrong"),
    [
        (("seed", "entropy"), ("seed",), "confirmed", []),
        (("seed",), ("entropy",), "confirmed", ["smallest set"]),
        (("seed",), ("seed", "clock"), "confirmed", ["smallest set"]),
        (("seed",), (), "observed", ["smallest set"]),
        (("seed",), ("seed",), "observed", ["confidence"]),
        ((), (), "observed", []),
        ((), ("seed",), "confirmed", ["smallest set"]),
        (None, (), "observed", []),
    ],
)
def test_what_explain_says_wrong(
    fixed_by: tuple[str, ...] | None, smallest: tuple[str, ...], confidence: str, wrong: list[str]
) -> None:
    pair = replace(PAIR, fixed_by=fixed_by)
    said = read(
        report(
            causes=[{"code": "RC301", "confidence": confidence}],
            controls={"smallest": list(smallest)},
        )
    )
    assert unproven(pair, said, CLEAN) == wrong
    assert unproven(pair, said, replace(CLEAN, smallest=("seed",))) == ["twin confirmed", *wrong]
    row = Judged(
        pair=pair,
        bad=replace(said, starts=Starts(rung=2, found=5, patched=2)),
        twin=CLEAN,
        wrong=tuple(wrong),
    )
    page = table.proofs([row])
    assert ("right |" in page) is (wrong == [])
    assert ("| 2 | 5 | 5 | RC301" in page) is (confidence == "confirmed")
    assert ("- starts until confirmed: median 5, at most 5" in page) is (confidence == "confirmed")


def test_starts_are_counted_from_the_folder(tmp_path: Path) -> None:
    places = ("run-1", "run-2", "op/run-1", "arms/1-seed/run-1", "arms/2-patched/run-1")
    for place in places:
        (tmp_path / place / "trace").mkdir(parents=True)
    found = starts_in(tmp_path)
    assert found == Starts(rung=2, found=4, patched=1)
    assert found.further == 3


@pytest.mark.parametrize(
    ("expected", "place", "right"),
    [
        ("block.drop", "block.drop", True),
        ("block", "block.drop", True),
        ("DataLoader", "DataLoader[0]", True),
        ("lr", "SGD[0].lr", True),
        ("block", "blocks.0", False),
        ("drop", "", False),
    ],
)
def test_places(expected: str, place: str, right: bool) -> None:
    assert is_at(expected, place) is right


def test_page_has_a_row_for_each_pair_and_the_totals() -> None:
    bad = read(report(causes=[]))
    page = table.markdown([Judged(pair=PAIR, bad=bad, twin=CLEAN, wrong=("cause",))])
    assert (
        "| torch/a | plain loop | initial weights | initial weights | 0.weight |  | REPRODUCIBLE |  | **wrong: cause** |"
        in page
    )
    assert "- cause: 0 of 1 right" in page
    assert "- rung: 1 of 1 right" in page


@pytest.mark.parametrize(
    ("verdict", "equal", "again"),
    [
        ("NOT REPRODUCIBLE (forward)", False, False),
        ("NOT REPRODUCIBLE (backward)", False, True),
        ("REPRODUCIBLE", False, True),
        ("REPRODUCIBLE", True, False),
        ("SCRIPT FAILED", None, False),
    ],
)
def test_runs_that_agree_by_chance_are_asked_again(
    verdict: str, equal: bool | None, again: bool
) -> None:
    said = read({"verdict": "script_failed", "bitwise": {"equal": equal}})
    said = replace(said, verdict=verdict)
    assert agreed_narrowly(said, ["NOT REPRODUCIBLE (forward)"]) is again
