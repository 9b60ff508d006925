"""Decide what may stand in what others read: report folders, texts to paste, attachments.

It is decided here alone.

    Redaction(level, ...)         for whom, whose machine, what else looks for secrets
    redaction_of(check, level)    the same, which knows the arguments and logs of a check
    redacted(thing, redaction)    the check, resume or night as it may stand there
    mask_log(path, ...)           the log of a run, in place
    found_scanner()               the detector of the extra `bundle`, where it is installed

Imports model, rules and what the recorder shares, which nothing else of the package may import.
"""

from __future__ import annotations

from reprocheck.child.reprocheck_child.shared.masking import identity as identity, unmask as unmask
from reprocheck.child.reprocheck_child.shared.redaction import (
    MARKS as MARKS,
    known_secrets as known_secrets,
)
from reprocheck.redaction.detector import found_scanner as found_scanner
from reprocheck.redaction.guard import Level as Level, Redaction as Redaction
from reprocheck.redaction.lists import COMMANDS as COMMANDS
from reprocheck.redaction.logs import mask_log as mask_log, mask_stream as mask_stream
from reprocheck.redaction.sender import known_values as known_values, redaction_of as redaction_of
from reprocheck.redaction.shapes import values_of as values_of
from reprocheck.redaction.walk import redacted as redacted
