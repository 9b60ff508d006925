"""The mark that says that lines of a trace could not be written."""

from __future__ import annotations

LOST = ".lost"
"""Suffix of an empty file beside a trace of which lines are missing: where a disk is full to the
end of the process, the trace itself cannot say it.
"""
