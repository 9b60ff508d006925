"""Both sides of each target, recorded: one worktree a revision, one run a target and side."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.suite.bisect.checkout import in_worktree, target_with_interpreter
from reprocheck.suite.diff.result import Revision
from reprocheck.suite.execution import Executor, Job, Performed
from reprocheck.suite.night.run import JobObserver, perform_all
from reprocheck.suite.surface import worktree
from reprocheck.suite.target import Target
from reprocheck.suite.targets import folder_name

Pair = tuple[Performed, Performed]
"""What was recorded of a target: at the first revision, at the second."""
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """Record targets at two revisions.

    root        the folder of the suite
    place       the folder of the reports, relative to `root`
    repository  the working tree that the targets lie in
    worktrees   the worktrees of both revisions
    runs        how often each side is run
    """

    root: Path
    place: str
    repository: Path
    revisions: tuple[Revision, Revision]
    worktrees: tuple[Path, Path]
    runs: int
    executor: Executor
    observer: JobObserver

    def record(
        self, wanted: Mapping[str, tuple[str, ...]], targets: Iterable[Target]
    ) -> list[Pair]:
        """Return the recordings of these targets, in their order.

        wanted  of each target, options of `reprocheck record`
        """
        jobs = [
            (self._job(0, one, wanted[one.name]), self._job(1, one, wanted[one.name]))
            for one in targets
        ]
        for pair in jobs:
            for job in pair:
                shutil.rmtree(job.folder, ignore_errors=True)
        made: dict[str, Performed] = {}

        def done(performed: Performed) -> None:
            made[performed.job.place] = performed
            self.observer.recorded(performed, performed.no_recording)

        self.observer.recording(2 * len(jobs))
        perform_all([job for pair in jobs for job in pair], self.executor, self.observer, done)
        return [(made[first.place], made[second.place]) for first, second in jobs]

    def _job(self, side: int, target: Target, recorded: tuple[str, ...]) -> Job:
        revision = self.revisions[side]
        found, python = target_with_interpreter(target)
        found = in_worktree(found, python, self.repository, self.worktrees[side])
        name = f"{target.name}, {revision.shown}"
        words = (*found.words, *shlex.split(revision.options))
        return Job(
            target=replace(found, name=name, words=words),
            night="diff",
            root=self.root,
            place=f"{self.place}/{folder_name(target.name)}/{'ab'[side]}",
            kind="recording",
            recorded=(*recorded, "--runs", str(self.runs)),
        )


@contextmanager
def both_worktrees(
    revisions: tuple[Revision, Revision], repository: Path, root: Path, say: Say, inside: Path
) -> Iterator[tuple[Path, Path]]:
    """Yield a worktree of each revision. `root`: the folder of the suite, which they leave out."""
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(worktree(one.commit, repository, root, say, inside=inside))
            for one in revisions
        )
        yield first, second
