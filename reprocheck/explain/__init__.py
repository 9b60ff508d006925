"""Where two runs first part, and why: `ladder(check, folder)`, then `causes(check, folder)`, and what a search over controls confirms.

scanned(check, folder)   what the scan finds in its files, and what of it ran; `suspected(check)` the causes that follow from that alone
between(check, noise)    of two recordings that were made apart: the drift between their environments
keep_sources(check, folder)  the user's own files of a recording, kept in its folder
question(check, folder)  the runs that the search needs next      decided(check, folder, controls)  whether more of them are of no use
searched(check, folder)  what it has come to, and the confirmed cause
"""

from __future__ import annotations

from reprocheck.explain.cause import causes
from reprocheck.explain.confirm import PATCH, decided, patch_holds, question, searched
from reprocheck.explain.drift import between
from reprocheck.explain.rungs import ladder
from reprocheck.explain.scanned import scanned, suspected
from reprocheck.explain.search_order import removes
from reprocheck.explain.usercode import keep_sources

__all__ = [
    "PATCH",
    "between",
    "causes",
    "decided",
    "keep_sources",
    "ladder",
    "patch_holds",
    "question",
    "removes",
    "scanned",
    "searched",
    "suspected",
]
