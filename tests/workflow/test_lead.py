"""What every report of a check tells first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model import Cause, Ladder, SourceLine
from reprocheck.workflow.lead import lead_of
from tests.causes.cause_ladders import check, ladder

BUILT = SourceLine(file="model.py", line=11)
ASKED = SourceLine(file="train.py", line=18)


def cause(code: str, confidence: str, source: SourceLine) -> Cause:
    return Cause(code=code, title="It", confidence=confidence, source=source)  # type: ignore[arg-type]


def differing() -> Ladder:
    """Weights whose sentence says that nothing seeds torch before the line that builds them."""
    found = ladder("initial weights", place="frequencies", source=BUILT)
    rungs = [
        replace(rung, detail="The buffer differs.") if rung.rung == "initial weights" else rung
        for rung in found.rungs
    ]
    return replace(found, rungs=tuple(rungs), sentence="It differs, because nothing seeds torch.")


@pytest.mark.parametrize(
    ("best", "sentence"),
    [
        (cause("RC303", "confirmed", ASKED), "The buffer differs."),
        (cause("RC303", "suspected", ASKED), "It differs, because nothing seeds torch."),
        (cause("RC302", "confirmed", BUILT), "It differs, because nothing seeds torch."),
    ],
)
def test_what_a_control_has_not_confirmed_is_not_told_as_the_reason(
    best: Cause, sentence: str
) -> None:
    blamed = cause("RC301", "observed", BUILT)
    lead = lead_of(check(differing(), causes=(best, blamed)))
    assert lead is not None and (lead.cause, lead.sentence) == (best.code, sentence)


def test_a_confirmed_cause_at_another_line_leaves_the_sentence_where_nothing_else_was_seen() -> (
    None
):
    lead = lead_of(check(differing(), causes=(cause("RC303", "confirmed", ASKED),)))
    assert lead is not None and lead.sentence == "It differs, because nothing seeds torch."
