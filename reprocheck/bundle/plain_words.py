"""What is said in `strict` in place of the sentences that were left out: closed words alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reprocheck import rules
from reprocheck.model import Cause, Check, Rung
from reprocheck.wording.fixes import translated

_REASONS: Mapping[str, str] = {
    "reproducible": "Both checks agree.",
    "not_reproducible": "A check differs by more than the tolerance allows.",
    "inconclusive": "A check could not be made.",
    "script_failed": "A run ended with an error.",
    "timed_out": "A run took longer than the timeout.",
}


def in_plain_words(check: Check) -> Check:
    """Return the check with sentences made of closed words alone, where those with names were left
    out.
    """
    ladder, lead = check.ladder, check.lead
    return replace(
        check,
        verdict=replace(check.verdict, reason=_REASONS[check.verdict.verdict]),
        ladder=None if ladder is None else replace(ladder, sentence=_where(ladder.first_rung)),
        lead=None if lead is None else replace(lead, sentence=_where(check.leading)),
        causes=tuple(map(_titled, check.causes)),
    )


def _where(rung: Rung | None) -> str:
    if rung is None:
        return "No rung of the ladder differs."
    if rung.iteration is None:
        return f"The runs first differ on the rung {rung.rung}."
    return f"The runs first differ on the rung {rung.rung}, in iteration {rung.iteration}."


def _titled(cause: Cause) -> Cause:
    found = rules.find(cause.code)
    if found is None:
        return cause
    entry = translated(found)
    fix = entry.fix if cause.fix_from == "catalogue" else ""
    return replace(cause, title=entry.title, fix=fix)
