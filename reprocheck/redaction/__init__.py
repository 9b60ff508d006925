"""What of a check may leave the machine: a list of fields, and a detector for the text in them.

    Redaction(level, ...)        how strict, whose machine, what else looks for secrets
    redacted(check, redaction)   the same check with that alone which may leave
    found_scanner()              the detector of the extra `bundle`, where it is installed

Imports model, rules and what the recorder shares.
"""

from __future__ import annotations

from reprocheck.redaction.detector import Detector, Scanner
from reprocheck.redaction.guard import LEVELS, Level, Redaction, known_folders, known_values
from reprocheck.redaction.kingfisher import found_scanner
from reprocheck.redaction.walk import redacted

__all__ = [
    "LEVELS",
    "Detector",
    "Level",
    "Redaction",
    "Scanner",
    "found_scanner",
    "known_folders",
    "known_values",
    "redacted",
]
