"""What a start gives anew each time: whether the ladder shows that it is what differs, and that no
control is asked for then.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reprocheck.causes import start_values
from reprocheck.ladder.external_inputs import Given
from reprocheck.model import Check, Rung
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.model.statements.search import SearchRemark
from reprocheck.search.folder_search import question, searched
from tests.causes.cause_ladders import GROSS, check, ladder


def given(first: str, second: str) -> Given:
    return Given(kind="argument", name="--seed", first=first, second=second)


def differs(
    monkeypatch: pytest.MonkeyPatch,
    again: Given,
    facts: dict[str, Any],
    rung: str = "initial weights",
) -> Check:
    """A check whose runs were given other seeds, and the runs behind its ladder `again`."""
    base = ladder(rung, **facts, **GROSS)
    outside = Rung(
        rung="files and arguments",
        status="differs",
        place="--seed",
        evidence=GivenOtherwise(kind="argument"),
    )
    rungs = tuple(outside if one.rung == "files and arguments" else one for one in base.rungs)
    monkeypatch.setattr(start_values, "given_at_start", lambda *_: (given("3", "7"),))
    monkeypatch.setattr(start_values, "_given_again", lambda *_: (again,))
    return check(replace(base, rungs=rungs, first="files and arguments"))


@pytest.mark.parametrize(
    ("facts", "rung", "shown"),
    [
        ({"seeds": {"torch": (40, 45)}}, "initial weights", True),
        ({"seeds": {"torch": (41, 46)}}, "initial weights", True),
        ({"seeds": {"torch": (40, 46)}}, "initial weights", False),
        ({"values": (0.1, 5.1)}, "hyper-parameters", True),
        ({"seeds": {"torch": ("system", "system")}}, "initial weights", False),
        ({}, "initial weights", False),
    ],
)
def test_seeds_that_are_as_far_apart_as_the_arguments_are_made_of_them(
    facts: dict[str, Any], rung: str, shown: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = differs(monkeypatch, given("40", "45"), facts, rung)
    assert start_values.is_what_differs(found, tmp_path) is shown
    assert (question(found, tmp_path) is None) is shown, "no arm is needed where that is seen"
    result = searched(found, tmp_path)
    nothing_to_try = SearchRemark(kind="nothing to try")
    assert (result is not None and result.search.statements[0] == nothing_to_try) is shown


def test_what_names_the_run_is_not_compared_with_seeds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = differs(monkeypatch, given("40", "45"), {"seeds": {"torch": (40, 45)}})
    assert found.ladder is not None
    other = replace(found, ladder=replace(found.ladder, first="initial weights"))
    assert not start_values.is_what_differs(other, tmp_path)
