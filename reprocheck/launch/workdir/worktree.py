"""Check out another commit of the user's repository beside the working tree.

`reprocheck compare --against COMMIT` runs it for one side.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.files.summary import summary
from reprocheck.interrupts import waiting
from reprocheck.launch.run.guard import descendants
from reprocheck.launch.workdir import snapshot
from reprocheck.launch.workdir.tree import read_tree

MOST_BYTES = 1 << 30
"""Of files that git does not track, taken into the worktree together where the file system cannot
share their blocks.
"""
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A commit that was found.

    The name it was asked for by, its hash, and the working tree that it belongs to.
    """

    name: str
    hash: str
    root: Path

    @property
    def shown(self) -> str:
        """`HEAD~1 (3f2a9c1)`, or the short hash alone where that is how it was asked for."""
        short = self.hash[:9]
        return short if self.hash.startswith(self.name) else f"{self.name} ({short})"


def find_commit(name: str, cwd: Path) -> Commit:
    """Return the commit of that name in the repository of `cwd`.

    Raises UsageError where there is no git, no repository or no such commit.
    """
    top = _git(cwd, "rev-parse", "--show-toplevel")
    if top is None:
        raise UsageError(
            f"--against {name}: {cwd} is not in a git repository.",
            "Record each side with `reprocheck record`, and compare those.",
        )
    full_hash = _git(
        cwd, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
    )
    if full_hash is None:
        raise UsageError(
            f"--against {name}: there is no such commit.",
            "`git log --oneline` lists commits; a branch or a tag works, too.",
        )
    return Commit(name=name, hash=full_hash.strip(), root=Path(top.rstrip("\n")))


@contextmanager
def worktree(
    commit: Commit, cwd: Path, leave_out: Path, say: Say, *, inside: Path | None = None
) -> Iterator[Path]:
    """Yield the folder of `cwd` in a worktree of the commit, which is removed afterwards.

    Files that git does not track are copied into it, but for `leave_out` and virtual environments.
    `inside`: where it is made; in the system's folder for temporary files by default. Raises
    UsageError.
    """
    if inside is not None:
        inside.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix="reprocheck-", dir=inside, ignore_cleanup_errors=True
    ) as temporary:
        place = Path(temporary) / commit.root.name
        try:
            words = ("worktree", "add", "--detach", "--quiet", str(place), commit.hash)
            if _git(commit.root, "-c", "core.hooksPath=/dev/null", *words) is None:
                raise UsageError(
                    f"git cannot make a worktree of {commit.shown}.",
                    f"See why: git worktree add --detach /tmp/worktree {commit.hash[:9]}",
                )
            there = place / cwd.resolve().relative_to(commit.root.resolve())
            if not there.is_dir():
                raise UsageError(
                    f"{commit.shown} has no folder {there.relative_to(place)}.",
                    "Start from a folder that both sides have.",
                )
            left = _bring(commit.root, place, leave_out)
            if left:
                say(
                    f"Not in the worktree of {commit.shown}, as they are large and git does not"
                    f" track them: {summary(left)}."
                )
            yield there
        finally:
            with waiting():
                # of one that was not made to its end git keeps an entry that `prune` leaves alone,
                # and `remove` removes no folder that is no worktree yet: so the folder goes first
                shutil.rmtree(place, ignore_errors=True)
                _git(commit.root, "worktree", "remove", "--force", "--force", str(place))
                _git(commit.root, "worktree", "prune")


def _bring(root: Path, place: Path, leave_out: Path) -> list[str]:
    """Copy the files that git does not track. Returns the paths of those too large."""
    tracked = set((_git(root, "ls-files", "-z") or "").split("\0"))
    tree = read_tree(root, [leave_out], limit=10_000_000)
    sizes = {
        path: entry.size
        for path, entry in tree.entries.items()
        if entry.kind == "file" and path not in tracked
    }
    left, taken = [], 0
    for path in sorted(sizes, key=sizes.__getitem__):
        source, target = root / path, place / path
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if snapshot.clone(source, target):
            shutil.copymode(source, target)
            continue
        target.unlink(missing_ok=True)
        if taken + sizes[path] > MOST_BYTES:
            left.append(path)
            continue
        shutil.copy2(source, target)
        taken += sizes[path]
    return left


def _git(cwd: Path, *words: str) -> str | None:
    """Return what git answers; None if git fails or is not installed."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    }
    try:
        process = subprocess.Popen(
            ["git", *words],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    with process:
        try:
            answer, _ = process.communicate()
        except BaseException:
            _kill(process.pid)
            raise
    if process.returncode != 0:
        return None
    return answer.decode("utf-8", "surrogateescape")


def _kill(root: int) -> None:
    """Kill a process with all below it."""
    for number in (*(pid for pid, _ in descendants(root)), root):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
