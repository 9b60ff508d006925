"""All that the nightly takes of the package beside data, options and small utilities.

A contract in pyproject.toml holds every other module of the suite to

    this module                                what runs, records and compares trainings
    model, rules, resume.model                 the result as data, the catalogue, names of verdicts
    settings, resume.request                   which options there are, and what they may be
    errors, files, language, redaction         utilities
    report                                     how tables, links and files are drawn

A finished check is read from its report.json and from the series that this module hands out.
"""

from __future__ import annotations

import ast
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.launch import find_python, worktree as make_worktree
from reprocheck.launch.run.environment import KINDS as DEVICE_KINDS
from reprocheck.launch.run.process import GuardedProcess
from reprocheck.launch.workdir.archive import BEFORE, MEANWHILE
from reprocheck.launch.workdir.interrupted_checks import put_back as put_back_killed, told
from reprocheck.launch.workdir.snapshot import STORE
from reprocheck.launch.workdir.tree import SUITE_MARK
from reprocheck.launch.workdir.worktree import Commit, Say
from reprocheck.model import LOSS_SERIES, LossSeries, Series, Tolerance
from reprocheck.suite.model import Recorded
from reprocheck.verdict.large_numbers import ulp_distance
from reprocheck.verdict.machine import is_of_a_machine
from reprocheck.verdict.series import first_outside, first_unequal

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from reprocheck.model import Run, Trace

__all__ = [
    "DEVICE_KINDS",
    "SUITE_MARK",
    "GuardedProcess",
    "SourceFile",
    "compare_recordings",
    "distance",
    "draw_again",
    "find_python",
    "holds_user_files",
    "is_of_a_machine",
    "put_back",
    "recorded",
    "report_json",
    "source_files",
    "worktree",
]


def report_json(folder: Path) -> bytes:
    """Return report.json of a recorded check, or check of a resume, as this version draws it.

    Raises ReportError if the folder holds no readable record.
    """
    from reprocheck.recording.record import RESUME

    if (folder / RESUME).exists():
        from reprocheck.resume.check import load as load_resume
        from reprocheck.resume.report.formats import FORMATS as RESUME_FORMATS

        return RESUME_FORMATS["json"].render(load_resume(folder))
    from reprocheck.report import FORMATS
    from reprocheck.workflow import replay

    return FORMATS["json"].render(replay.load(folder))


def recorded(folder: Path) -> Recorded:
    """Return what run 1 of a check recorded. Raises ReportError."""
    from reprocheck.recording import record as records
    from reprocheck.trace import read_run

    runs = records.read(folder).runs
    if not runs:
        return Recorded(series=[])
    run = read_run(folder, runs[0])
    return Recorded(
        series=series_by_rank(run),
        samples=[trace.samples for trace in run.traces],
        deep=max((trace.deep for trace in run.traces), default=0),
    )


def series_by_rank(run: Run) -> list[tuple[int, list[Series]]]:
    """Return the series of a run as `recorded` does."""
    return [(trace.rank, [_losses(trace), *trace.series]) for trace in run.traces]


def _losses(trace: Trace) -> Series:
    """Return the losses of a rank with the iteration that each belongs to."""
    import numpy as np

    losses = trace.losses
    ends = np.asarray(losses.ends, dtype=np.int64)
    iterations = np.repeat(np.arange(1, len(ends) + 1), np.diff(ends, prepend=0))
    count = len(iterations)
    one_by_one = replace(
        losses,
        values=losses.values[:count],
        dtype_of=losses.dtype_of[:count],
        ends=array("q", range(1, count + 1)),
    )
    return Series(
        name=LOSS_SERIES,
        numbers=one_by_one,
        iterations=array("q", iterations.tolist()),
        steps=array("d", [float("nan")]) * count,
    )


def compare_recordings(then: Path, now: Path, output: Path, names: tuple[str, str]) -> Path:
    """Compare two recordings that were made apart.

    Returns the folder of the report, which is made below `output`. Raises ReportError.
    """
    from reprocheck import settings
    from reprocheck.recording import bundle
    from reprocheck.workflow import replay
    from reprocheck.workflow.check import written

    held = settings.load({"output": str(output)}, output, {}, files=False)
    with bundle.opened(then) as first, bundle.opened(now) as second:
        check, folder = replay.joined((first, second), names, replace(held, keep=None), force=True)
    written(check, folder, held.draw)
    return folder


def draw_again(folder: Path) -> None:
    """Draw the reports of a check again if its page could run foreign scripts.

    The HTML page was made on another machine; the record is drawn again. If that fails, the page is
    removed.
    """
    from contextlib import suppress

    from reprocheck import report
    from reprocheck.errors import ReprocheckError
    from reprocheck.report.html import runs_no_other_script
    from reprocheck.workflow import replay

    page = folder / report.FORMATS["html"].filename
    if not page.is_file() or runs_no_other_script(page.read_bytes()):
        return
    page.unlink()
    with suppress(ReprocheckError):
        report.write(replay.load(folder), folder)


def put_back(output: Path, workdir: Path, moved: tuple[Path, Path] | None = None) -> list[str]:
    """Restore the user's files that killed checks of `workdir` have changed.

    Returns sentences that say so.

    output  the folder that holds the report folders of these checks
    moved   a report folder, and its later place; None if none will move
    """
    sentences: list[str] = []
    for folder, after in put_back_killed(output, workdir):
        shown = moved[1] if moved and moved[0] == folder else folder
        sentences += told(after, shown, workdir)
    return sentences


def holds_user_files(output: Path) -> bool:
    """Return whether a report folder in `output` holds files of the user."""
    return any(any(output.glob(f"*/{name}")) for name in (STORE, BEFORE, MEANWHILE))


def worktree(
    commit: str, root: Path, leave_out: Path, say: Say, *, inside: Path
) -> AbstractContextManager[Path]:
    """Make a worktree of a commit of the repository at `root`.

    It is a context manager that yields the place of `folder` in the worktree.

    Untracked files are copied, except `leave_out`; the worktree is made in the folder `inside`.
    Raises UsageError.
    """
    named = Commit(name=commit[:9], hash=commit, root=root)
    return make_worktree(named, root, leave_out, say, inside=inside)


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceFile:
    """Describe a Python file.

    has_guard     whether the file has `if __name__ == "__main__":`
    package_root  the folder from which the file's package is imported
    """

    path: Path
    tree: ast.Module
    has_guard: bool
    package_root: Path


def source_files(folder: Path, wanted: Callable[[Path, bytes], bool]) -> Iterator[SourceFile]:
    """Yield the Python files below a folder that are wanted and can be parsed.

    They come by path; none of hidden folders, virtual environments and reports.
    """
    from reprocheck.files.source_text import UnreadableError
    from reprocheck.scan import files
    from reprocheck.scan.source import parse, read
    from reprocheck.scan.syntax import is_guard

    found, _ = files.find([folder])
    for path in sorted(file.path for file in found):
        try:
            source = read(path)
            if not wanted(path, source):
                continue
            tree = parse(path, path.name, source).tree
        except UnreadableError:
            continue
        yield SourceFile(
            path=path,
            tree=tree,
            has_guard=any(map(is_guard, tree.body)),
            package_root=files.package_root(path.parent),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Distance:
    """Say how far a series is from another; both have one value per iteration.

    unequal  the first value (from 1) that differs bitwise; None if none does
    outside  the first value (from 1) outside the tolerance; None if there is none
    """

    series: LossSeries
    reference: LossSeries
    unequal: int | None
    outside: int | None

    def ulp_at(self, number: int) -> int | None:
        """Return the distance at value `number` in units in the last place.

        None if it is undefined.
        """
        if number > min(len(self.series), len(self.reference)):
            return None
        place = number - 1
        dtype = self.series.dtype(place)
        if dtype != self.reference.dtype(place):
            return None
        return ulp_distance(self.series.values[place], self.reference.values[place], dtype)


def distance(series: LossSeries, reference: LossSeries, rtol: float, atol: float) -> Distance:
    """Return how far a series is from another one, at a tolerance."""
    unequal = first_unequal(series, reference)
    outside = first_outside(series, reference, Tolerance(rtol=rtol, atol=atol))
    return Distance(
        series=series,
        reference=reference,
        unequal=unequal.iteration if unequal else None,
        outside=outside.iteration if outside else None,
    )
