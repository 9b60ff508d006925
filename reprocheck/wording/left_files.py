"""The sentences on what run 1, or an earlier check, left for the runs after it."""

from __future__ import annotations

from reprocheck.files.summary import summary
from reprocheck.language import mark, sentences, tr
from reprocheck.model import is_elsewhere
from reprocheck.model.statements.check import LeftByEarlier, ReadLeft, VisibleLeft
from reprocheck.wording.say import say

_MOST_READ = 5
"""Files that are named of those that runs read."""
OUTSIDE = mark(
    "Every run sees what lies outside of the working directory, also with `--workdir copy`."
)
_KEPT_FROM = {False: mark("`--workdir copy` gives each run its own folder."), True: OUTSIDE}
"""How to keep later runs from files, by whether these lie elsewhere."""


@say.register
def read_left(left: ReadLeft) -> str:
    """Say that a later run read what run 1 wrote, and how to keep it from that."""
    said = tr(
        "State left by run 1: a later run read {paths}, written by run 1.",
        paths=summary(left.paths, _MOST_READ),
    )
    same = tr("Run 1 read the same from there.") if left.alike else ""
    places = sorted(set(map(is_elsewhere, left.paths)))
    return sentences(said, same, *(tr(_KEPT_FROM[place]) for place in places))


@say.register
def visible_left(left: VisibleLeft) -> str:
    """Say that later runs could see what run 1 wrote, and what rules out that they read it."""
    return tr(
        "The runs after run 1 could see what was written while it ran:"
        " {paths}. None was seen to read it, but not every read is seen:"
        " {advice}",
        paths=summary(left.paths),
        advice=_what_rules_it_out(left),
    )


def _what_rules_it_out(left: VisibleLeft) -> str:
    elsewhere = set(map(is_elsewhere, left.paths))
    if elsewhere == {False}:
        return tr("`--workdir copy` rules it out.")
    if False in elsewhere:
        return tr("`--workdir copy` rules it out for those in the working directory.")
    if left.made:
        return tr("remove these files before each run to rule it out.")
    return tr("look in the script for what reads them; `--workdir copy` does not copy them.")


@say.register
def left_by_earlier(left: LeftByEarlier) -> str:
    """Say that all runs read what the runs of an earlier check had left."""
    also = ""
    if left.others:
        also = tr(", and what else such checks left ({paths})", paths=summary(left.others))
    return tr(
        "Each run reads {paths}, which the runs of an earlier check made"
        " ({when:%Y-%m-%d %H:%M} UTC), so this check does not cover a start"
        " without it. Remove it{also}, and check again.",
        paths=summary(left.paths, _MOST_READ),
        when=left.when,
        also=also,
    )
