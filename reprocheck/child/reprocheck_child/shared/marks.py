"""Names of files by which a continued run and reprocheck talk in the folder of a trace."""

from __future__ import annotations

WANTED, TAKEN = "wanted-", "taken-"
"""A snapshot is waited for, and it was taken: beginnings of names, whose ends are the same."""
SIGNAL, SENT = "signal-wanted", "signal-sent"
"""The signal that ends a run is waited for, and it was sent."""
OUTSIDE = "outside"
"""Holds the path of a checkpoint that was about to be written where no snapshot is taken."""
