"""What every report of a check tells first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model import Cause, Ladder, SourceLine
from reprocheck.model.statement import Statement
from reprocheck.model.statements.ladder import Consequence, Diverged
from reprocheck.workflow.lead import lead_of
from tests.causes.cause_ladders import check, ladder

BUILT = SourceLine(file="model.py", line=11)
ASKED = SourceLine(file="train.py", line=18)
OF_RUNG = Consequence(place="frequencies", first="initial weights", rank=None)
OF_LADDER = Diverged(difference=OF_RUNG)


def cause(code: str, confidence: str, source: SourceLine) -> Cause:
    return Cause(code=code, title="It", confidence=confidence, source=source)  # type: ignore[arg-type]


def differing() -> Ladder:
    """Weights of which the ladder says that nothing seeds torch before the line that builds
    them.
    """
    found = ladder("initial weights", place="frequencies", source=BUILT, statement=OF_RUNG)
    return replace(found, statement=OF_LADDER)


@pytest.mark.parametrize(
    ("best", "statement"),
    [
        (cause("RC303", "confirmed", ASKED), OF_RUNG),
        (cause("RC303", "suspected", ASKED), OF_LADDER),
        (cause("RC302", "confirmed", BUILT), OF_LADDER),
    ],
)
def test_what_a_control_has_not_confirmed_is_not_told_as_the_reason(
    best: Cause, statement: Statement
) -> None:
    blamed = cause("RC301", "observed", BUILT)
    lead = lead_of(check(differing(), causes=(best, blamed)))
    assert lead is not None and (lead.cause, lead.statement) == (best.code, statement)


def test_a_confirmed_cause_at_another_line_leaves_the_sentence_where_nothing_else_was_seen() -> (
    None
):
    lead = lead_of(check(differing(), causes=(cause("RC303", "confirmed", ASKED),)))
    assert lead is not None and lead.statement == OF_LADDER
