"""Names and marks by which reprocheck and its runs know files, generators and lost lines."""

from __future__ import annotations

WANTED, TAKEN = "wanted-", "taken-"
"""A snapshot is waited for, and it was taken: beginnings of names, whose ends are the same."""
SIGNAL, SENT = "signal-wanted", "signal-sent"
"""The signal that ends a run is waited for, and it was sent."""
OUTSIDE = "outside"
"""Holds the path of a checkpoint that was about to be written where no snapshot is taken."""


UNMOVED = "unmoved"
"""Stands for the state of a generator that the script has neither seeded nor drawn from."""


LOST = ".lost"
"""Suffix of an empty file beside a trace of which lines are missing: where a disk is full to the
end of the process, the trace itself cannot say it.
"""
