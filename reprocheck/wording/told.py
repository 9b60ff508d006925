"""The sentences of a check, made once it is whole."""

from __future__ import annotations

from dataclasses import replace

from reprocheck.language import spoken
from reprocheck.model import Check
from reprocheck.wording import (
    causes,
    check as recorded,
    ladder,
    record_sentences,
    search,
    trace,
    verdict,
)


def told(check: Check) -> Check:
    """Return the check with its sentences.

    Verdict, lead, causes, fixes and next step in the language that is spoken, the rest in English.
    """
    with spoken("en"):
        check = recorded.told(trace.told(check))
    record = record_sentences.told(check.record)
    check = verdict.told(replace(check, record=record))
    return causes.told(search.told(ladder.told(check)))
