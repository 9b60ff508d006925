"""report.json: names, schema, numbers."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from reprocheck.redaction import Redaction, redacted
from reprocheck.report import FORMATS, to_json
from reprocheck.report.document import MOST_LOSSES
from reprocheck.report.html import source
from tests.report import parts
from tests.report.samples import (
    SAMPLES,
    backward_fails,
    bitwise_equal,
    hostile,
    inconclusive_nan,
    million,
    nothing,
    three_runs,
    timed_out,
)

NAMES = {
    "schema_version", "reprocheck_version", "verdict", "headline", "failed_check", "reason", "reason_to_paste",
    "exit_code", "command", "started", "checks",
    "tolerance", "bitwise", "first_divergence", "stopped_early", "outcomes", "series", "lead", "ladder", "causes",
    "controls", "scan", "variations", "mirrors", "seed_effect", "compared",
    "state_left",
    "files",
    "changed_to_observe", "caveats", "coverage", "environment", "settings", "runs",
}  # fmt: skip


@pytest.fixture(scope="module")
def schema() -> Any:
    return json.loads(source("report.schema.json"))


def test_losses_of_one_iteration_without_number_stay_in_the_csv_alone() -> None:
    many = [0.5] * (MOST_LOSSES + 1)
    one = parts.run(1, [parts.trace(parts.series(many, per_iteration=len(many)))])
    few = parts.run(2, [parts.trace(parts.series([0.5, 0.25]))])
    runs = to_json(replace(bitwise_equal(), runs=(one, few)))["runs"]
    assert [len(found["ranks"][0]["iterations"]) for found in runs] == [0, 2]


def test_the_schema_is_a_schema(schema: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_sample_fits_the_schema(sample: str, schema: Any) -> None:
    document = json.loads(FORMATS["json"].render(SAMPLES[sample]()), parse_constant=pytest.fail)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert set(document) == NAMES
    assert document == to_json(redacted(SAMPLES[sample](), Redaction("folder")))


def test_a_ladder_as_documented_fits_the_schema(schema: Any) -> None:
    rung = dict.fromkeys(
        ("iteration", "rank", "place", "culprit", "size", "relative_difference", "detail")
    )
    document = to_json(bitwise_equal()) | {
        "ladder": {"rungs": [{"rung": "batch", "status": "differs", **rung}], "first": "batch"},
        "controls": {
            "tried": [{"controls": ["seed"], "agrees": True, "bitwise": True}],
            "smallest": ["seed"],
        },
    }
    jsonschema.Draft202012Validator(schema).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(document | {"verdict": "deterministic"})


def test_json_snapshot(snapshot: Any) -> None:
    assert FORMATS["json"].render(timed_out()).decode() == snapshot


def test_every_bit_is_kept() -> None:
    check = backward_fails()
    for run, recorded in zip(to_json(check)["runs"], check.runs, strict=True):
        values = [loss for each in run["ranks"][0]["iterations"] for loss in each["losses"]]
        assert [float.fromhex(loss["hex"]) for loss in values] == recorded.traces[
            0
        ].losses.values.tolist()
        assert [loss["value"] for loss in values] == recorded.traces[0].losses.values.tolist()


def test_losses_that_are_not_finite_are_null_with_hex() -> None:
    iterations = to_json(inconclusive_nan())["runs"][0]["ranks"][0]["iterations"]
    assert [each["losses"][0]["value"] for each in iterations[1:3]] == [None, None]
    assert [each["losses"][0]["hex"] for each in iterations[1:3]] == ["nan", "inf"]


def test_several_losses_of_an_iteration_stay_apart() -> None:
    iterations = to_json(three_runs())["runs"][2]["ranks"][0]["iterations"]
    assert [each["iteration"] for each in iterations] == list(range(1, 16))
    assert {len(each["losses"]) for each in iterations} == {2}


def test_a_long_training_keeps_a_thousand_iterations_and_the_diverging_one() -> None:
    iterations = to_json(million(5000))["runs"][0]["ranks"][0]["iterations"]
    assert [each["iteration"] for each in iterations] == [*range(1, 1001), 3501]


def test_a_number_of_the_verdict_that_is_not_finite_is_null() -> None:
    check = bitwise_equal()
    row = replace(check.verdict.comparisons[0], max_difference=math.inf, allowed=math.nan)
    document = to_json(replace(check, verdict=replace(check.verdict, comparisons=(row,))))
    assert (document["checks"][0]["max_difference"], document["checks"][0]["allowed"]) == (
        None,
        None,
    )


def test_nothing_recorded() -> None:
    document = to_json(nothing())
    assert (document["checks"], document["first_divergence"], document["bitwise"]["equal"]) == (
        [],
        None,
        None,
    )


def test_bytes_that_are_not_text_do_not_break_it() -> None:
    text = FORMATS["json"].render(hostile()).decode()
    assert "\\udcff" not in text and "\udcff" not in text
    assert json.loads(text)["command"][2] == "--name"
