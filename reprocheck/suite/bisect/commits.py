"""The commits between two nights, as candidates, and what a commit is."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.suite.bisect.search import GOOD_END, Graph

WORKING_TREE = "."
"""The name of the working tree as a revision."""
MODIFIED = "+"
"""Behind the commit of a check whose working directory had modified files."""


@dataclass(frozen=True, kw_only=True)
class Commits:
    """Hold the commits that a search looks through.

    hashes   the commit hashes by number: the good end, then the candidates, parents first
    graph    which commit builds on which
    aside    whether the commit of the good night is no ancestor of the bad night's, so that the
             commit where the two part stands at the good end
    """

    hashes: tuple[str, ...]
    graph: Graph
    aside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitFacts:
    """Describe a commit for people.

    date   the author date, ISO 8601
    files  the files that the commit changes, for a merge compared with its first parent
    """

    hash: str
    author: str
    date: str
    subject: str
    files: tuple[str, ...]


def between(folder: Path, good: str, bad: str, *, first_parent: bool = False) -> Commits:
    """Return the commits that the bad night has and the good night lacks.

    first_parent  whether a merge stands for all commits that it brings in

    Raises UsageError if the repository lacks one of the commits, or they share no history.
    """
    good, bad = (known(folder, commit) for commit in (good, bad))
    part = _git(folder, "merge-base", good, bad).strip()
    if not part:
        raise UsageError(
            f"The commits {good[:9]} and {bad[:9]} of the two nights share no history.",
            "Name two nights of the same repository with --good and --bad.",
        )
    only = ("--first-parent",) if first_parent else ()
    listed = _git(
        folder, "rev-list", "--topo-order", "--reverse", "--parents", *only, bad, f"^{good}"
    )
    hashes = [part]
    parents: list[tuple[int, ...]] = [()]
    numbers = {part: GOOD_END}
    for line in listed.splitlines():
        commit, *builds_on = line.split()
        counted = builds_on[:1] if first_parent else builds_on
        found = {numbers.get(parent, GOOD_END) for parent in counted}
        numbers[commit] = len(hashes)
        hashes.append(commit)
        parents.append(tuple(sorted(found or {GOOD_END})))
    return Commits(hashes=tuple(hashes), graph=Graph(parents=tuple(parents)), aside=part != good)


def differ_at_most_in(file: Path | None, folder: Path, good: str, bad: str) -> bool:
    """Return whether two commits differ in no file except `file`.

    False if git does not know them.
    """
    if good == bad:
        return True
    listed = _answer(folder, "diff", "--name-only", "--no-renames", "-z", good, bad)
    if listed is None:
        return False
    root = root_of(folder).resolve()
    touched = {root / name for name in listed.split("\0") if name}
    return touched <= {file.resolve() if file else root}


def facts(folder: Path, commit: str) -> CommitFacts:
    """Return what git knows of a commit."""
    shown = _git(folder, "show", "--no-patch", "--format=%H%n%an <%ae>%n%aI%n%s", commit)
    full, author, date, subject = shown.splitlines()[:4]
    names = _git(
        *(folder, "diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-z"),
        *("--diff-merges=first-parent", full),
    )
    files = tuple(name for name in names.split("\0") if name)
    return CommitFacts(hash=full, author=author, date=date, subject=subject, files=files)


def remove_left(folder: Path, inside: Path) -> None:
    """Remove the worktrees that a killed search left in the folder `inside`."""
    left = list(inside.glob("*/*/.git"))
    for git in left:
        _answer(folder, "worktree", "remove", "--force", "--force", str(git.parent))
    shutil.rmtree(inside, ignore_errors=True)
    if left:
        _answer(folder, "worktree", "prune")


def root_of(folder: Path) -> Path:
    """Return the working tree that a folder belongs to. Raises UsageError if there is none."""
    top = _answer(folder, "rev-parse", "--show-toplevel")
    if top is None:
        raise UsageError(
            f"{folder} is not in a git repository, or git is not installed.",
            "Commits can be searched only where the target lies in a repository.",
        )
    return Path(top.rstrip("\n"))


def known(folder: Path, commit: str) -> str:
    """Return the full hash of a commit that a night names.

    Raises UsageError if the repository of the folder does not have it.
    """
    root_of(folder)
    name = commit.removesuffix(MODIFIED)
    found = _answer(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if found is None:
        raise UsageError(
            f"The repository of {folder} has no commit {name[:9]}, which a night was made of.",
            "Fetch it: git fetch --all --tags (of a shallow clone: git fetch --unshallow).",
        )
    return found.strip()


def of_revision(root: Path, name: str) -> str:
    """Return the full hash of a commit, branch or tag; of `.` a commit of the working tree.

    Raises UsageError if the repository has no such commit.
    """
    if name == WORKING_TREE:
        return _of_working_tree(root)
    found = _answer(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
    )
    if found is None:
        raise UsageError(
            f"The repository {root} has no commit {name}.",
            "Name a commit, a branch or a tag; `.` is the working tree as it is now. Of a shallow"
            " clone fetch more: git fetch --unshallow",
        )
    return found.strip()


def _of_working_tree(root: Path) -> str:
    """Return HEAD, or a commit on top of it with the modified files, which no branch refers to.

    It is made with a copy of the index, so that working tree and index stay as they are.
    """
    with tempfile.TemporaryDirectory(prefix="reprocheck-") as folder:
        index = Path(folder) / "index"
        own = root / _git(root, "rev-parse", "--git-path", "index").strip()
        with suppress(FileNotFoundError):
            shutil.copyfile(own, index)
        head = _answer(root, "rev-parse", "--verify", "--quiet", "HEAD")
        if head is None or _answer(root, "add", "--update", index=index) is None:
            raise UsageError(
                f"The working tree of {root} cannot be read by git, or has no commit.",
                f"See why: git -C {root} status",
            )
        tree = _git(root, "write-tree", index=index).strip()
        if tree == _git(root, "rev-parse", "HEAD^{tree}").strip():
            return head.strip()
        by = ("-c", "user.name=reprocheck", "-c", "user.email=reprocheck@localhost")
        words = ("commit-tree", tree, "-p", "HEAD", "-m", "The working tree")
        return _git(root, *by, *words).strip()


def _git(folder: Path, *words: str, index: Path | None = None) -> str:
    return _answer(folder, *words, index=index) or ""


def _answer(folder: Path, *words: str, index: Path | None = None) -> str | None:
    """Return what git prints; None if git fails or is not installed.

    index  the file to use in place of the repository's index
    """
    environment = {name: value for name, value in os.environ.items() if name not in _OF_OTHERS}
    if index is not None:
        environment["GIT_INDEX_FILE"] = str(index)
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "-c", "core.quotePath=false", *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape")


_OF_OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
"""Variables that name another repository than that of the folder: git sets them for its hooks."""
