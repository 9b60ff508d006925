"""Controls in every report: those that were on, what each touched, overrides and conflicts, and the
search that confirms a cause.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import jsonschema
import pytest

import reprocheck
from reprocheck.cli.reasons import print_controls, print_search
from reprocheck.cli.terminal import Stream
from reprocheck.model import (
    Check,
    Conflict,
    ControlTrace,
    Override,
    Search,
    SourceLine,
    Touch,
    Tried,
)
from reprocheck.report import FORMATS, controls, next_command, to_json
from tests.report.samples import bitwise_equal, explained

SCHEMA = json.loads(
    (Path(reprocheck.__file__).parent / "report" / "report.schema.json").read_text()
)
LINE = SourceLine(file="train.py", line=7)
PATCH = "--- a/train.py\n+++ b/train.py\n@@ -7 +7 @@\n-rng = default_rng()\n+rng = default_rng(0)\n"


def searched() -> Check:
    """A search that found two controls, with a control that failed, an override and a patch that
    was tried.
    """
    tried = (
        Tried(controls=(), runs=2, agrees=False, bitwise=False, note="as in the check"),
        Tried(
            controls=("private-rng",),
            runs=2,
            agrees=False,
            bitwise=False,
            note="it would remove RC601",
        ),
        Tried(
            controls=("deterministic",),
            runs=2,
            agrees=None,
            bitwise=None,
            note="the script failed: `index_add_` at train.py:9",
        ),
        Tried(controls=("private-rng", "single-thread"), runs=3, agrees=True, bitwise=False),
        Tried(controls=(), runs=2, agrees=True, bitwise=True, patched=True),
    )
    search = Search(
        tried=tried,
        smallest=("private-rng", "single-thread"),
        sentence="`private-rng` and `single-thread` together remove the difference.",
        confidence="All 4 unmodified runs differ from each other.",
        fix="rng = default_rng(0)",
        patch=PATCH,
        touches=(
            Touch(control="private-rng", what="numpy.random.default_rng", count=3, source=LINE),
        ),
        overrides=(
            Override(
                control="single-thread", what="torch.set_num_threads", old=8, new=1, source=LINE
            ),
        ),
        unavailable=(("fill-memory", "this version has no hook for it"),),
    )
    causes = (replace(explained().causes[0], confidence="confirmed"), *explained().causes[1:])
    return replace(explained(), causes=causes, search=search)


def with_another() -> Check:
    """A search whose control, and patch, remove the difference up to iteration 5; another one is
    there from iteration 6 on.
    """
    search = Search(
        tried=(
            Tried(
                controls=(),
                runs=2,
                agrees=False,
                bitwise=False,
                note="as in the check",
                diverges_from=1,
            ),
            Tried(
                controls=("private-rng",),
                runs=2,
                agrees=True,
                bitwise=False,
                another_from=6,
                diverges_from=6,
            ),
            Tried(
                controls=(),
                runs=2,
                agrees=True,
                bitwise=False,
                patched=True,
                another_from=6,
                diverges_from=6,
            ),
        ),
        smallest=("private-rng",),
        sentence="`private-rng` removes the difference: 2 runs under it agree in every bit up to iteration 5.",
        patch=PATCH,
        further=("--control", "private-rng"),
    )
    return replace(explained(), search=search)


def under_controls() -> Check:
    """Runs made under two controls; the script stood against one."""
    base = bitwise_equal()
    trace = ControlTrace(
        touches=(
            Touch(control="seed", what="torch.manual_seed", count=1, value=0, source=LINE),
            Touch(control="seed", what="random.seed", count=1_200, value=0),
        ),
        conflicts=(
            Conflict(
                control="deterministic",
                what="cudnn.benchmark",
                value=True,
                wanted=False,
                source=LINE,
            ),
        ),
        unavailable=(("deterministic", "no framework that has it was loaded"),),
    )
    runs = tuple(replace(run, controls=trace) for run in base.runs)
    return replace(base, runs=runs, record=replace(base.record, controls=("seed", "deterministic")))


def drawn(check: Check, name: str) -> str:
    return FORMATS[name].render(check).decode()


def terminal(check: Check) -> list[str]:
    """What the terminal shows of controls, 80 columns wide."""
    rows: list[str] = []
    out = Stream(
        SimpleNamespace(
            write=rows.append, flush=lambda: None, encoding="utf-8", isatty=lambda: False
        ),
        color="never",
    )  # type: ignore[arg-type]
    print_search(check, out, every=False)
    print_controls(check, out)
    return "".join(rows).split("\n")


def test_json_of_a_search() -> None:
    document = to_json(searched())
    jsonschema.validate(document, SCHEMA)
    part = document["controls"]
    assert (part["on"], part["smallest"]) == ([], ["private-rng", "single-thread"])
    assert part["tried"][2] == {
        "controls": ["deterministic"],
        "agrees": None,
        "bitwise": None,
        "runs": 2,
        "patched": False,
        "fixes": [],
        "suffices": None,
        "acted": [],
        "reference": [],
        "spared": [],
        "reason": "",
        "note": "the script failed: `index_add_` at train.py:9",
        "another_from": None,
        "diverges_from": None,
    }
    assert part["overrides"] == [
        {
            "control": "single-thread",
            "what": "torch.set_num_threads",
            "old": 8,
            "new": 1,
            "source": {"file": "train.py", "line": 7},
        }
    ]
    assert part["touched"][0]["count"] == 3 and part["patch"] == PATCH


def test_json_of_runs_under_controls_and_of_plain_ones() -> None:
    document = to_json(under_controls())
    jsonschema.validate(document, SCHEMA)
    part = document["controls"]
    assert (part["on"], part["tried"], part["smallest"], part["patch"]) == (
        ["seed", "deterministic"],
        [],
        [],
        "",
    )
    assert [row["what"] for row in part["touched"]] == ["torch.manual_seed", "random.seed"]
    assert [(row["what"], row["value"], row["wanted"]) for row in part["conflicts"]] == [
        ("cudnn.benchmark", True, False)
    ]
    assert to_json(bitwise_equal())["controls"] is None


@pytest.mark.parametrize("name", ["md", "html", "junit"])
def test_every_report_says_what_was_found(name: str) -> None:
    text = re.sub(r"</?(?:code|strong)>|[`\\*]", "", drawn(searched(), name))
    assert "private-rng and single-thread together remove the difference." in text
    assert "All 4 unmodified runs differ from each other." in text
    if name == "junit":
        ElementTree.fromstring(drawn(searched(), name))
        return
    for said in (
        "agree, not in every bit",
        "not decided",
        "private-rng + single-thread",
        "patched",
        "torch.set_num_threads",
        "train.py:7",
    ):
        assert said in text
    assert "2 runs with it, without any control, agree in every bit." in text
    assert "rng = default_rng(0)" in text and "this version has no hook for it" in text


@pytest.mark.parametrize("name", ["md", "html"])
def test_every_report_lists_the_controls_that_were_on(name: str) -> None:
    text = re.sub(r"</?(?:code|strong)>|[`\\*]", "", drawn(under_controls(), name))
    for said in (
        "same training",
        "torch.manual_seed once, random.seed 1,200 times",
        "changed nothing",
        "cudnn.benchmark",
        "stood; False wanted",
    ):
        assert said in text
    plain = drawn(bitwise_equal(), name)
    assert "Controls" not in plain and "Search over controls" not in plain


def test_the_page_has_both_sections_in_its_outline() -> None:
    page = drawn(searched(), "html")
    assert page.index('id="ladder"') < page.index('id="search"') < page.index('id="causes"')
    assert (
        '<span class="added">+rng = default_rng(0)' in page
        and '<span class="removed">-rng = default_rng()' in page
    )
    assert '<span class="confidence confirmed"' in page


def test_the_terminal_within_80_columns() -> None:
    rows = terminal(searched())
    text = "\n".join(rows)
    assert max(map(len, rows)) <= 80
    assert [
        row.split("  ")[0]
        for row in rows
        if row.strip().startswith(("proof", "tried", "overrode", "patch"))
    ]
    assert "  tried       unmodified                       2 runs   differ" in rows
    assert "              private-rng + single-thread      3 runs   agree, not in every bit" in rows
    assert "              patched                          2 runs   agree in every bit" in rows
    assert "    +rng = default_rng(0)" in rows
    assert "single-thread: torch.set_num_threads was 8, became 1 (train.py:7)" in text
    rows = terminal(under_controls())
    assert max(map(len, rows)) <= 80
    assert rows[0].startswith("  controls    seed            same training")
    assert "conflict" in "\n".join(rows) and "was kept" in " ".join(" ".join(rows).split())


def test_what_is_said_of_a_patch() -> None:
    found = searched().search
    assert found is not None
    untried = replace(found, tried=found.tried[:-1])
    assert controls.checked(untried) == "Not tried: no runs were made with it."
    given = Tried(
        controls=(), runs=2, agrees=None, bitwise=None, patched=True, note="nobody took it"
    )
    not_taken = replace(found, tried=(*untried.tried, given))
    assert controls.checked(not_taken) == "Not tried: nobody took it."


def test_runs_that_diverge_after_they_agreed_are_said_to_do_both() -> None:
    check = with_another()
    jsonschema.validate(to_json(check), SCHEMA)
    assert [row["another_from"] for row in to_json(check)["controls"]["tried"]] == [None, 6, 6]
    said = "2 runs with it, without any control, agree in every bit until iteration 5; another difference remains, from iteration 6 on."
    rows = terminal(check)
    assert max(map(len, rows)) <= 80
    assert "              private-rng                      2 runs   agree until iteration 5" in rows
    assert said in " ".join(" ".join(rows).split())
    for name in ("md", "html"):
        text = drawn(check, name)
        assert (
            said in text
            and text.count("agree until iteration 5") == 2
            and "agree, not in every bit" not in text
        )


def test_an_arm_is_never_said_to_agree_where_it_diverges() -> None:
    arm = Tried(controls=(), runs=2, agrees=True, bitwise=False)
    assert controls.outcome(replace(arm, diverges_from=4)) == "diverge from iteration 4"
    assert controls.outcome(arm) == "agree, not in every bit"
    assert controls.outcome(replace(arm, agrees=False, diverges_from=1)) == "differ"


def test_the_difference_that_remains_is_looked_for_next() -> None:
    why, command = next_command(with_another())
    assert (
        "remaining difference" in why
        and command == "reprocheck explain --control private-rng --timeout 600 train.py --lr 0.1"
    )


def test_what_to_type_next() -> None:
    assert next_command(explained())[1].startswith("reprocheck explain ")
    assert next_command(searched())[1] == "reprocheck rules R104"


def test_a_patch_that_was_tried_and_failed_is_said_to_have_failed() -> None:
    search = searched().search
    assert search is not None
    row = Tried(controls=(), runs=2, agrees=False, bitwise=False, patched=True, diverges_from=3)
    said = {
        controls.without_patch(replace(search, patch="", tried=tried))
        for tried in ((row,), (replace(row, agrees=None, note="killed"),), ())
    }
    assert said == {
        "a patch was tried and differs from iteration 3",
        "a patch was tried, and its runs failed: killed",
        "there is no patch, and the fix is what to do by hand",
    }
