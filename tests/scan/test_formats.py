"""How a result is printed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from reprocheck.scan.finding import Result
from reprocheck.scan.formats import NAMES, render, sarif, text
from tests.scan.samples import CELL, EMPTY, RESULT, SEED

SCHEMA = json.loads(Path(__file__).with_name("sarif.schema.json").read_text(encoding="utf-8"))
"""The JSON schema of SARIF 2.1.0, as the package `@microsoft/sarif-multitool` 5.7.0 holds it (MIT
licence, copyright Microsoft).
"""


def test_text_shows_the_line_with_a_caret() -> None:
    rows = render(RESULT, "text").splitlines()
    start = rows.index("src/train model.py:12:5: error RC402 clock-seed [--fix]")
    assert rows[start + 1 : start + 5] == [
        "  The seed comes from the clock (`time.time`).",
        "  12 | torch.manual_seed(time.time())",
        "     | ^" + "^" * 28,
        "  reached through train.py:30",
    ]
    assert rows[start + 5] == "  fix: torch.manual_seed(0)"
    assert rows[-3:] == [
        "3 findings (1 error, 1 warning, 1 note) in 3 of 14 files, 1,234 lines.",
        "1 of them can be fixed: `--diff` shows how, `--fix` does it.",
        "1 more answered by comments.",
    ]
    assert "old.py:7: left out: Python 2: Missing parentheses" in rows
    assert (
        "big0.py, big1.py, big2.py and 2 more files (`--format json` names them): scanned" in rows
    )
    assert "book.ipynb:cell 3:2:1: warning RC505 hash-order" in rows
    assert all(len(row) <= 80 for row in rows)


def test_text_can_be_styled_and_is_short_without_findings() -> None:
    styled = [part for row in text.rows(RESULT) for part in row]
    assert ("error", "bold red") in styled and ("RC402", "cyan") in styled
    assert render(EMPTY, "text") == "No findings in 1 file, 10 lines.\n"


def test_json_holds_everything() -> None:
    table = json.loads(render(RESULT, "json"))
    assert [row["code"] for row in table["findings"]] == ["RC505", "RC402", "unused-ignore"]
    assert (
        table["findings"][1] | {"line": 12, "column": 5, "severity": "error", "patchable": True}
        == table["findings"][1]
    )
    assert table["findings"][0]["cell"] == 3 and table["suppressed"][0]["suppressed"] == "meant so"
    assert table["unreadable"][0] == {
        "path": "old.py",
        "reason": "Python 2: Missing parentheses",
        "line": 7,
        "partly": False,
    }
    assert [row["partly"] for row in table["unreadable"]] == [False, False, *5 * [True]]


@pytest.mark.parametrize("result", [RESULT, EMPTY, Result(findings=(SEED, SEED))])
def test_sarif_is_valid(result: Result) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
    log = json.loads(render(result, "sarif"))
    validator.validate(log)
    log["runs"][0]["results"].append({"message": {}})
    assert not validator.is_valid(log), "the schema is one that finds mistakes"


def test_sarif_is_what_code_scanning_takes() -> None:
    run = json.loads(render(RESULT, "sarif"))["runs"][0]
    rules, results = run["tool"]["driver"]["rules"], run["results"]
    assert [rules[row["ruleIndex"]]["id"] for row in results] == [row["ruleId"] for row in results]
    assert all(rule["help"]["text"] and rule["fullDescription"]["text"] for rule in rules)
    seed = next(row for row in results if row["ruleId"] == "RC402")
    place = seed["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/train%20model.py", "uriBaseId": "%SRCROOT%"}
    assert (
        place["region"] | {"startLine": 12, "startColumn": 5, "endLine": 12, "endColumn": 34}
        == place["region"]
    )
    assert {row["level"] for row in results} == {"error", "warning", "note"}
    assert (
        "region"
        not in next(row for row in results if row["ruleId"] == "RC505")["locations"][0][
            "physicalLocation"
        ]
    )
    assert next(row for row in results if row["ruleId"] == "RC301")["suppressions"] == [
        {"kind": "inSource", "justification": "meant so"}
    ]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    places = [note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for note in notes]
    assert places[:3] == ["old.py", "file:///abs/a%20b.py", "big0.py"]
    assert (notes[0]["level"], notes[2]["level"]) == ("warning", "note")
    assert notes[2]["message"]["text"] == "scanned in part: too many calls"


def test_fingerprints_outlive_moved_lines_and_tell_equal_lines_apart() -> None:
    from dataclasses import replace

    def prints(*findings: object) -> list[str]:
        table = json.loads(sarif.render(Result(findings=findings)))  # type: ignore[arg-type]
        return [row["partialFingerprints"]["reprocheck/v1"] for row in table["runs"][0]["results"]]

    first = prints(SEED)
    assert first == prints(replace(SEED, line=40, joined_line=40, text="  " + SEED.text.strip()))
    assert first != prints(replace(SEED, path="other.py"))
    assert len(set(prints(SEED, replace(SEED, line=13)))) == 2


def test_github_annotations_are_escaped() -> None:
    rows = render(RESULT, "github").splitlines()
    assert rows[1] == (
        "::error file=src/train model.py,line=12,endLine=12,col=5,endColumn=34,title=RC402 clock-seed"
        "::The seed comes from the clock (`time.time`).%0Afix: torch.manual_seed(0)"
    )
    assert rows[0].startswith(
        "::warning file=book.ipynb,title=RC505 hash-order::cell 3, line 2: A set | of [strings]: 100%25, in order%0Aof <b>."
    )
    assert (
        rows[2].startswith("::notice ")
        and rows[3].startswith("::warning file=old.py,line=7,")
        and "file=/abs/a b.py" in rows[4]
    )
    assert (
        rows[5]
        == "::notice file=big0.py,line=1,title=reprocheck scan::scanned in part: too many calls"
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_format_prints_every_result(name: str) -> None:
    for result in (RESULT, EMPTY, Result(findings=(CELL,))):
        assert render(result, name).endswith("\n")


def test_a_name_at_the_beginning_of_a_sentence_stays_as_it_is_in_code() -> None:
    drawn = Result(
        findings=(
            replace(
                SEED,
                message="numpy.random.rand draws here, and nothing seeds NumPy in this program",
            ),
        )
    )
    for name in NAMES:
        said = (
            json.loads(render(drawn, name))["findings"][0]["message"]
            if name == "json"
            else render(drawn, name)
        )
        assert "numpy.random.rand draws here" in " ".join(said.split()).replace("\\_", "_")
