"""What run 1 left for the runs after it: files that they read, and files that they could see. A
pure function of what was recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain, filterfalse
from operator import attrgetter

from reprocheck.language import mark, sentences, tr
from reprocheck.launch.snapshot import summary
from reprocheck.model import CheckRecord, Run, is_elsewhere

FIRST_NAMED = 5
OWN_FOLDER = mark("`--workdir copy` gives each run its own folder.")
OUTSIDE = mark(
    "Every run sees what lies outside of the working directory, also with `--workdir copy`."
)
_OF_LIBRARIES = re.compile(
    r"(^|/)(\.keras/keras\.json$|wandb/settings$|\.(cache|config)/matplotlib/|\.triton/cache/"
    r"|torchinductor_|\.nv/ComputeCache/|\.cache/huggingface/(?!datasets))"
)
"""Where libraries keep settings and caches that hold no numbers of a training."""
_KEPT_FROM = {False: OWN_FOLDER, True: OUTSIDE}
"""How to keep later runs from files, by whether these lie elsewhere."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Carried:
    """Paths, those of the working directory first; whole and masked for files elsewhere.

    read      files that changed while run 1 was under way and that a later run opened for reading
              before it wrote them itself
    alike     those of them from which run 1 itself, once it had made them, read the same as each
              later run, and no later
    visible   the others of them that some later run found: whether it looked at them is not known
    made      those of the visible ones elsewhere where nothing stood before run 1
    """

    read: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    made: frozenset[str] = frozenset()


def carried(record: CheckRecord, runs: Sequence[Run]) -> Carried:
    """Return what run 1 left for later runs; nothing of two recordings that were made apart."""
    if len(runs) < 2 or record.compared:
        return Carried()
    one, *later = runs
    first = one.record.files
    left = set(first.elsewhere)
    if not first.copied:
        left.update(first.created, first.changed)
    left -= set(filter(partial(_is_of_a_library, runs), left))
    read = left.intersection(chain.from_iterable(map(attrgetter("opened"), later)))
    alike = read.intersection(*map(partial(_read_alike, one), later))
    # where nothing stood: what run 1 had left was gone
    made_anew = set.intersection(*(set(run.record.files.made) for run in later))
    visible = left - read - made_anew
    return Carried(
        read=_in_order(read),
        alike=_in_order(alike),
        visible=_in_order(visible),
        made=frozenset(visible.intersection(first.made)),
    )


def _is_of_a_library(runs: Sequence[Run], path: str) -> bool:
    """Return whether a library keeps its own settings or cache in a file, in which no run found
    anything else than another.
    """
    reads = [run.first_reads[path] for run in runs if path in run.first_reads]
    if len({(read.size, read.hash) for read in reads}) > 1:
        return False
    at_import = bool(reads) and all(map(attrgetter("at_import"), reads))
    return at_import or _OF_LIBRARIES.search(path) is not None


def _read_alike(first: Run, later: Run) -> set[str]:
    """Return the files from which both read the same."""
    one, other = first.first_reads, later.first_reads
    return {path for path in one.keys() & other.keys() if one[path].alike(other[path])}


def state_caveat(found: Carried) -> str:
    """Return the sentence that a later run read what run 1 wrote; "" where none did."""
    if not found.read:
        return ""
    same = ""
    if set(found.alike) == set(found.read):
        same = tr("Run 1 read the same from there.")
    left = tr(
        "State left by run 1: a later run read {paths}, written by run 1.",
        paths=summary(found.read, FIRST_NAMED),
    )
    return sentences(left, same, advice(found.read))


def caveats(found: Carried, *, passed: bool) -> Iterator[str]:
    """Yield what a reader of the verdict has to know of it."""
    if found.read:
        yield state_caveat(found)
    if found.visible and passed:
        yield tr(
            "The runs after run 1 could see what was written while it ran:"
            " {paths}. None was seen to read it, but not every read is seen:"
            " {advice}",
            paths=summary(found.visible),
            advice=_what_rules_it_out(found),
        )


def of_earlier(record: CheckRecord, runs: Sequence[Run]) -> Iterator[str]:
    """Yield the sentence that all runs read what the runs of an earlier check had left: in a
    copy of the working directory as well.
    """
    by_all = set(record.earlier).intersection(*map(attrgetter("opened"), runs))
    if not runs or not by_all:
        return
    read = list(filter(by_all.__contains__, record.earlier))
    when = datetime.fromisoformat(record.earlier[read[0]])
    also = ""
    if others := list(filterfalse(by_all.__contains__, record.earlier)):
        also = tr(", and what else such checks left ({paths})", paths=summary(others))
    yield tr(
        "Each run reads {paths}, which the runs of an earlier check made"
        " ({when:%Y-%m-%d %H:%M} UTC), so this check does not cover a start"
        " without it. Remove it{also}, and check again.",
        paths=summary(read, FIRST_NAMED),
        when=when,
        also=also,
    )


def advice(paths: Sequence[str]) -> str:
    """Return how to keep later runs from these files."""
    places = sorted(set(map(is_elsewhere, paths)))
    return sentences(*(tr(_KEPT_FROM[place]) for place in places))


def _what_rules_it_out(found: Carried) -> str:
    elsewhere = set(filter(is_elsewhere, found.visible))
    if not elsewhere:
        return tr("`--workdir copy` rules it out.")
    if len(elsewhere) < len(found.visible):
        return tr("`--workdir copy` rules it out for those in the working directory.")
    if elsewhere <= found.made:
        return tr("remove these files before each run to rule it out.")
    return tr("look in the script for what reads them; `--workdir copy` does not copy them.")


def _in_order(paths: set[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=lambda path: (is_elsewhere(path), path)))
