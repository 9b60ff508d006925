"""Make the sentences of the verdict.

Of a check (`told`), of a verdict alone (`worded`), and the headline of what may be shown of a check
(`titled`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from reprocheck.model import Check, Comparison, Divergence, Verdict
from reprocheck.wording import mirrors as mirrors
from reprocheck.wording.say import in_english
from reprocheck.wording.verdict import caveats as caveats
from reprocheck.wording.verdict.headline import statement, title
from reprocheck.wording.verdict.reason import reason

_Row = TypeVar("_Row", Comparison, Divergence)


def told(check: Check) -> Check:
    """Return the check with the sentences of its verdict, and its caveats."""
    cautions = tuple(dict.fromkeys(map(in_english, check.cautions)))
    return replace(check, verdict=worded(check.verdict), caveats=cautions)


def worded(verdict: Verdict) -> Verdict:
    """Return the verdict with its sentences."""
    divergence = verdict.first_divergence
    verdict = replace(
        verdict,
        reason=reason(verdict),
        caveats=tuple(map(in_english, verdict.cautions)),
        comparisons=tuple(map(_detailed, verdict.comparisons)),
        first_divergence=divergence and _detailed(divergence),
        outcomes=replace(verdict.outcomes, statement=statement(verdict.outcomes)),
    )
    return replace(verdict, title=title(verdict))


def titled(check: Check) -> Check:
    """Return the check with a headline for its verdict, after parts were left out."""
    return replace(check, verdict=replace(check.verdict, title=title(check.verdict)))


def _detailed(row: _Row) -> _Row:
    return replace(row, detail=in_english(row.why or ""))
