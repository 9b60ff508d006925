"""The sentences on what run 1, or an earlier check, left for the runs after it."""

from __future__ import annotations

from reprocheck.files.summary import summary
from reprocheck.language import sentences
from reprocheck.model import is_elsewhere
from reprocheck.model.statements.check import LeftByEarlier, ReadLeft, VisibleLeft
from reprocheck.wording.say import say

_MOST_READ = 5
"""Files that are named of those that runs read."""
OUTSIDE = "Every run sees what lies outside of the working directory, also with `--workdir copy`."
_KEPT_FROM = {False: "`--workdir copy` gives each run its own folder.", True: OUTSIDE}
"""How to keep later runs from files, by whether these lie elsewhere."""


@say.register
def read_left(left: ReadLeft) -> str:
    """Say that a later run read files that run 1 wrote, and how to prevent that."""
    sentence = (
        f"State left by run 1: a later run read {summary(left.paths, _MOST_READ)},"
        " written by run 1."
    )
    same = "Run 1 read the same from there." if left.alike else ""
    places = sorted(set(map(is_elsewhere, left.paths)))
    return sentences(sentence, same, *(_KEPT_FROM[place] for place in places))


@say.register
def visible_left(left: VisibleLeft) -> str:
    """Say that later runs could see files that run 1 wrote, and what would rule out that they read
    them.
    """
    return (
        "The runs after run 1 could see what was written while it ran:"
        f" {summary(left.paths)}. None was seen to read it, but not every read is seen:"
        f" {_what_rules_it_out(left)}"
    )


def _what_rules_it_out(left: VisibleLeft) -> str:
    elsewhere = set(map(is_elsewhere, left.paths))
    if elsewhere == {False}:
        return "`--workdir copy` rules it out."
    if False in elsewhere:
        return "`--workdir copy` rules it out for those in the working directory."
    if left.made:
        return "remove these files before each run to rule it out."
    return "look in the script for what reads them; `--workdir copy` does not copy them."


@say.register
def left_by_earlier(left: LeftByEarlier) -> str:
    """Say that all runs read what the runs of an earlier check had left."""
    also = ""
    if left.others:
        also = f", and what else such checks left ({summary(left.others)})"
    return (
        f"Each run reads {summary(left.paths, _MOST_READ)}, which the runs of an earlier"
        f" check made ({left.when:%Y-%m-%d %H:%M} UTC), so this check does not cover a"
        f" start without it. Remove it{also}, and check again."
    )
