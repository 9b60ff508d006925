"""The changes of a patch as regions: made by whoever reads SARIF, they are the patch."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reprocheck.rules import catalogue
from reprocheck.scan import scan
from reprocheck.scan.finding import Result, file_of
from reprocheck.scan.formats import render
from reprocheck.scan.patches import CODES, patch
from reprocheck.scan.patches.regions import replaced
from tests.scan.test_formats import SCHEMA
from tests.scan.test_patches import DATA


def offset(text: str, line: int, column: int) -> int:
    """Where a place is in a text, as a viewer of SARIF counts lines and columns."""
    ends = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    return ends[line - 1] + column - 1


def made(text: str, replacements: list[dict[str, Any]]) -> str:
    for one in reversed(replacements):
        region = one["deletedRegion"]
        first = offset(text, region["startLine"], region["startColumn"])
        last = offset(text, region["endLine"], region["endColumn"])
        text = text[:first] + one["insertedContent"]["text"] + text[last:]
    return text


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The findings in every wrong example whose rule has a patch, and in a program that seeds in
    another file than that which draws.
    """
    folder = tmp_path_factory.mktemp("examples")
    for entry in catalogue():
        if entry.code in CODES and entry.scan:
            (folder / f"{entry.code}.py").write_text(entry.bad)
    (folder / "data.py").write_text(DATA)
    (folder / "train.py").write_text(
        "from data import loader\n\nfor batch in loader():\n    batch.backward()\n"
    )
    (folder / "answered.py").write_text(
        "import torch\ntorch.backends.cudnn.enable = False  # reprocheck: ignore\n"
    )
    return scan(sorted(folder.glob("*.py")), jobs=1)


def test_each_fix_of_sarif_makes_of_its_file_what_the_patch_makes(result: Result) -> None:
    log = json.loads(render(result, "sarif"))
    jsonschema.Draft202012Validator(SCHEMA).validate(log)
    rows = log["runs"][0]["results"]
    findings = (*result.findings, *result.suppressed)
    others = 0
    for finding, row in zip(findings, rows, strict=True):
        assert ("fixes" in row) is (finding.patchable and finding.suppressed is None)
        if "fixes" not in row:
            continue
        ((fix,),) = (row["fixes"],)
        (change,) = fix["artifactChanges"]
        path = Path(file_of(finding))
        others += file_of(finding) != finding.path
        before = path.read_text()
        assert change["artifactLocation"]["uri"] == path.as_uri()
        assert fix["description"]["text"] == finding.fix
        assert made(before, change["replacements"]) == patch(before, [finding]) != before
    assert others, "none is fixed in another file"
    assert {finding.code for finding in result.findings if finding.replaced} >= CODES
    assert len(rows) > len(result.findings), "none is answered"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb\nc\n", "a\nc\n"),
        ("a\nc", "a\nb\nc"),
        ("a\nc", "a\nc\nd\n"),
        ("a\nc\n", "a\nc\nd\n"),
        ("", "import a\n"),
        ("a\n", ""),
        ("a = 'ü\U0001f600', empty(1)\r\nb\r\n", "a = 'ü\U0001f600', zeros(1)\r\nc\r\nb\r\n"),
        ("a\fb\rc\rd", "a\fb\rx\rd"),
        ("a\na\na\nb\n", "b\na\na\na\n"),
    ],
)
def test_the_regions_of_two_texts_make_the_one_of_the_other(before: str, after: str) -> None:
    regions = [
        {
            "deletedRegion": {
                "startLine": one.line,
                "startColumn": one.column,
                "endLine": one.end_line,
                "endColumn": one.end_column,
            },
            "insertedContent": {"text": one.text},
        }
        for one in replaced(before, after)
    ]
    assert made(before, regions) == after
    assert replaced(before, before) == ()


def test_a_region_is_no_more_than_what_changes() -> None:
    (one,) = replaced("a\nseed = time()\nb\n", "a\nseed = 0\nb\n")
    assert (one.line, one.column, one.end_line, one.end_column, one.text) == (2, 8, 2, 14, "0")
