"""Every text of the result model, planted: what no row of the list names never leaves."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_args

import jsonschema
import pytest

from benchmarks.sown import compared, in_field, plain, text_of_fields
from reprocheck import model
from reprocheck.bundle import made
from reprocheck.model import Check, controls as of_controls, static as of_static
from reprocheck.redaction import Redaction, redacted
from reprocheck.redaction.fields import (
    FIELDS,
    LEFT_OUT,
    TABLES,
    How,
    rows,
)
from reprocheck.report import FORMATS
from reprocheck.resume import model as of_resume
from reprocheck.suite import model as of_suite
from tests.conftest import ROOT
from tests.report.samples import SAMPLES

CANARY = "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"


def planted(thing: Any, kind: str = "", name: str = "") -> Any:
    """The same with the canary in each text that is not of a closed list."""
    if is_dataclass(thing):
        of = type(thing).__name__
        changed = {
            field.name: planted(getattr(thing, field.name), of, field.name)
            for field in fields(thing)
        }
        return replace(thing, **changed)  # type: ignore[type-var]
    if isinstance(thing, str) and _is_free(kind, name):
        return f"{thing} {CANARY}".strip()
    if isinstance(thing, tuple):
        return tuple(planted(one, kind, name) for one in thing)
    if isinstance(thing, Mapping):
        return {key: planted(value, kind, name) for key, value in thing.items()}
    return thing


def _is_free(kind: str, name: str) -> bool:
    closed = {("EntryPoint", "command"), ("Rung", "rung")}
    of_facts = FIELDS.get((kind, name)) == "facts"
    return (
        FIELDS.get((kind, name), "text") != "as is"
        and not of_facts
        and (kind, name) not in closed
        and hasattr(model, kind)
    )


@pytest.mark.parametrize("strict, make", [(False, plain), (False, compared), (True, compared)])
def test_no_text_of_any_field_leaves_without_its_row(
    strict: bool, make: Callable[[], Check]
) -> None:
    check = planted(make())
    assert CANARY in text_of_fields(check)
    bundle = made(check, Redaction(strict=strict))
    assert [name for name, data in bundle.files.items() if CANARY.encode() in data] == []
    schema = json.loads((ROOT / "reprocheck/report/report.schema.json").read_text())
    jsonschema.validate(json.loads(bundle.files["report.json"]), schema)


@pytest.mark.parametrize("row", [row for row, how in rows(TABLES.check) if how != "as is"])
def test_a_secret_can_be_planted_in_every_row(row: tuple[str, str]) -> None:
    assert CANARY in text_of_fields(in_field(compared(), *row, CANARY, random.Random(0)))


def test_a_text_without_a_row_is_left_out() -> None:
    check = planted(SAMPLES["explained"]())
    shown = redacted(check, Redaction())
    assert (shown.record.advice, shown.folder, shown.record.earlier) == (None, None, {})
    assert CANARY not in text_of_fields(shown)


def test_each_row_names_a_field_of_its_model() -> None:
    of_check = {**vars(model), **vars(of_controls), **vars(of_static)}
    for table, classes in (
        (TABLES.check, of_check),
        (TABLES.resume, vars(of_resume)),
        (TABLES.night, vars(of_suite)),
    ):
        for (kind, name), how in rows(table):
            assert how in get_args(How), (kind, name)
            assert name in {field.name for field in fields(classes[kind])}, (kind, name)
    for kind, name in LEFT_OUT:
        assert name in {field.name for field in fields(of_check[kind])}, (kind, name)


def test_a_folder_shows_all_of_a_check_but_secrets_and_what_steers_a_terminal() -> None:
    check: Check = SAMPLES["explained"]()
    assert redacted(check, Redaction("folder")) == check
    for name in ("json", "md", "junit", "csv", "html"):
        assert CANARY.encode() not in FORMATS[name].render(planted(check)), name
    hostile = replace(check, caveats=("\x1b]0;owned\x07it\x00 is\nso",))
    assert redacted(hostile, Redaction("folder")).caveats == ("it� is\nso",)
