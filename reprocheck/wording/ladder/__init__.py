"""The sentences of the ladder: a module for each part of it."""

from __future__ import annotations

from dataclasses import replace

from reprocheck.language import spoken
from reprocheck.model import Between, Check, Ladder, Rung
from reprocheck.wording.ladder import (
    backward as backward,
    forward as forward,
    inputs as inputs,
    start as start,
    summary as summary,
    terms,
)
from reprocheck.wording.ladder.terms import said_of
from reprocheck.wording.say import in_english, say


def told(check: Check) -> Check:
    """Return the check with the sentences of the ladder."""
    lead = check.lead
    if lead is not None and lead.statement is not None:
        lead = replace(lead, sentence=say(lead.statement))
    ladder = check.ladder and of_ladder(check.ladder)
    with spoken("en"):
        between = check.between and _between(check.between)
    return replace(check, ladder=ladder, lead=lead, between=between)


def of_ladder(ladder: Ladder) -> Ladder:
    """Return a ladder with its sentence, and the English texts of its rungs."""
    with spoken("en"):
        ladder = replace(ladder, rungs=tuple(map(_rung, ladder.rungs)))
    if ladder.statement is None:
        return ladder
    coverage = tuple(map(in_english, ladder.unrecorded))
    return replace(ladder, sentence=say(ladder.statement), coverage=coverage)


def _rung(rung: Rung) -> Rung:
    if rung.place is not None:
        rung = replace(rung, place=terms.place(rung.place))
    if rung.statement is None:
        return rung
    said = said_of(rung.statement)
    return replace(rung, detail=said.detail, culprit=said.culprit)


def _between(between: Between) -> Between:
    sources = []
    for source in between.sources:
        if source.left_out:
            diff = f"{source.diff}… {source.left_out} more lines\n"
            source = replace(source, diff=diff, left_out=0)
        sources.append(source)
    sentence = between.sentence if between.statement is None else say(between.statement)
    return replace(between, sentence=sentence, sources=tuple(sources))
