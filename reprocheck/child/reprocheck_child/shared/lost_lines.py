"""Lines of a trace that could not be written: the mark that says so."""

from __future__ import annotations

LOST = ".lost"
"""Suffix of an empty file beside a trace of which lines are missing: where a disk is full to the
end of the process, the trace itself cannot say it.
"""
