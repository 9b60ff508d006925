"""From an entry point to what a check of a resume says. One that explains makes further runs: parts
of what was lost are put back, then a patch is tried.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from reprocheck.causes.usercode import keep_sources
from reprocheck.fixes import patched_files
from reprocheck.fixes.edits.difference import difference
from reprocheck.launch.teller import Teller
from reprocheck.model import EntryPoint
from reprocheck.resume.check import load, recording
from reprocheck.resume.confirm.search import next_rungs
from reprocheck.resume.confirm.words import objects
from reprocheck.resume.fix.patch_trial import proposed
from reprocheck.resume.gap.replacement_batches import batches
from reprocheck.resume.model import ResumeCheck
from reprocheck.resume.request import Asked
from reprocheck.resume.runs import Runs, Wanted, recorded
from reprocheck.settings import Settings


def checked(
    entry: EntryPoint, settings: Settings, folder: Path, teller: Teller, asked: Asked
) -> ResumeCheck:
    """Record the continued and the resumed runs in `folder` and return the check. Raises what
    `recorded` raises.
    """
    then = partial(_explained, folder, teller) if asked.explain else None
    recorded(entry, settings, folder, teller, asked, then)
    _tell(teller, "comparing the runs")
    keep_sources(recording(folder), folder)
    return load(folder)


def _explained(folder: Path, teller: Teller, runs: Runs) -> None:
    """Have runs made in which parts of what was lost are put back, until it is known which of them
    are needed; then two with a patch, of the first place for which one is known.
    """
    for number, outcome in enumerate(load(folder).outcomes):
        while rungs := next_rungs(outcome):
            _tell(teller, f"putting back {objects(rungs)}")
            assert outcome.offset is not None
            assert outcome.continued is not None and outcome.resumed is not None
            sides = (outcome.continued.record, outcome.resumed.record)
            runs.put_back(
                Wanted(
                    place=number,
                    rungs=rungs,
                    batches=batches(folder, sides, outcome.offset.k),
                    beside=outcome.explained.beside,
                )
            )
            outcome = load(folder).outcomes[number]
    for number, outcome in enumerate(load(folder).outcomes):
        changed = proposed(outcome)
        if changed:
            _tell(teller, "trying a patch")
            sources = folder.absolute() / "arms" / patched_files.SOURCES
            files = patched_files.written(changed, sources)
            runs.try_patch(number, difference(changed), files)
            return


def _tell(teller: Teller, status: str) -> None:
    teller.clear()
    teller.status(status)
