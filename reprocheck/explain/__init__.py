"""Where two runs first part, and why: `ladder(check, folder)`, then `causes(check, folder)`, and what a search over controls confirms.

scanned(check, folder)   what the scan finds in its files, and what of it ran; `suspected(check)` the causes that follow from that alone
between(check)           of two recordings that were made apart: the drift between their environments
other_sources(check, folder)  of these: what of the user's files differs
keep_sources(check, folder)  the user's own files of a recording, kept in its folder
close(folder)            the recording has ended: reports are drawn from the files that the folder holds, and from no others
question(check, folder)  the runs that the search needs next      decided(check, folder, controls)  whether more of them are of no use
searched(check, folder)  what it has come to, and the confirmed cause      most_runs(check, folder)  how many runs it still takes at most
"""

from __future__ import annotations

from reprocheck.explain.cause import causes
from reprocheck.explain.confirm import PATCH, decided, patch_offered, question, searched
from reprocheck.explain.drift import between
from reprocheck.explain.other_source import other_sources
from reprocheck.explain.rungs import ladder
from reprocheck.explain.scanned import scanned, suspected
from reprocheck.explain.search_length import most_runs
from reprocheck.explain.search_order import removes
from reprocheck.explain.sources import close
from reprocheck.explain.usercode import keep_sources

__all__ = [
    "PATCH",
    "between",
    "causes",
    "close",
    "decided",
    "keep_sources",
    "ladder",
    "most_runs",
    "other_sources",
    "patch_offered",
    "question",
    "removes",
    "scanned",
    "searched",
    "suspected",
]
