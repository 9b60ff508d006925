"""report.json as the nightly reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.suite import check_report
from reprocheck.suite.check_report import CheckReport, ResumeReport
from reprocheck.suite.execution import Performed, read
from tests.suite.nights import made

FAILS = """
import reprocheck
for step in range(4):
    reprocheck.log_loss(1 / (step + 1))
    if step == 2:
        raise ValueError("customer Smith has no address")
"""
NEWER = ("reason_to_paste", "environment", "runs")
"""What an older version did not write as it is read now."""


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Performed:
    return made(tmp_path_factory.mktemp("fails"), "train", FAILS)


def test_a_row_says_where_the_script_failed_and_its_reason_without_the_log(
    failed: Performed,
) -> None:
    row = read(failed)
    assert (row.verdict, row.source) == ("script_failed", "train.py:6")
    assert "Smith" in row.reason
    assert "Smith" not in row.reason_to_paste and "<log>" in row.reason_to_paste
    assert row.curves and row.key.facts["ranks"] == "1"
    assert row.beside["python.version"] and "memory.bytes" not in row.beside


@pytest.mark.parametrize("name", NEWER)
def test_a_folder_of_an_older_version_makes_the_same_row(failed: Performed, name: str) -> None:
    expected = read(failed)
    file = failed.job.folder / check_report.FILE
    written = file.read_bytes()
    document = json.loads(written)
    del document[name]
    file.write_text(json.dumps(document))
    assert read(failed) == expected
    file.unlink()
    assert read(failed) == expected
    file.write_bytes(written)


def test_a_folder_without_a_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError):
        check_report.read(tmp_path, CheckReport)


def test_of_several_places_the_first_with_the_verdict_of_all_is_decisive(
    tmp_path: Path, failed: Performed
) -> None:
    place = {"bitwise": None, "first_divergence": None, "rungs": [], "causes": []}
    document = json.loads((failed.job.folder / check_report.FILE).read_bytes())
    verdicts = ("resumes_exactly", "starts_over", "starts_over")
    document["verdict"] = "starts_over"
    document["places"] = [{**place, "verdict": verdict} for verdict in verdicts]
    document["places"][1]["causes"] = [{"code": "RC112", "source": "train.py:3"}]
    document["facts"] = {}
    (tmp_path / check_report.FILE).write_text(json.dumps(document))
    (cause,) = check_report.read(tmp_path, ResumeReport).decisive.causes
    assert (cause.code, cause.source) == ("RC112", "train.py:3")
