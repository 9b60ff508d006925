"""Git worktrees in which a target is checked at a commit, and their removal."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.suite.bisect.commits import remove_left
from reprocheck.suite.bisect.environments import digest_of, search_path
from reprocheck.suite.execution.claims import Wanted, claimed
from reprocheck.suite.surface import find_python
from reprocheck.suite.target import Target


def temporary_folder(root: Path, place: str) -> Path:
    """Return where worktrees are made.

    `root`: the folder of the suite; `place`: the folder of the reports in it.
    """
    return Path(tempfile.gettempdir()) / f"reprocheck-bisect-{digest_of((str(root), place))}"


@contextmanager
def alone(root: Path, place: str, repository: Path) -> Iterator[Path]:
    """Keep other processes from the same work, and yield the folder for its worktrees.

    What a killed process left there is removed, and at the end the folder.
    """
    claim = claimed([Wanted(f"bisect {root / place}")])
    if claim is None:
        raise UsageError(
            "The same work is under way in another process.", "Wait for it, and look at its answer."
        )
    inside = temporary_folder(root, place)
    try:
        remove_left(repository, inside)
        yield inside
    finally:
        remove_left(repository, inside)
        claim.give_back()


def in_worktree(target: Target, python: str, root: Path, top: Path) -> Target:
    """Return the target in the worktree `top` of its repository `root`.

    The user's packages are imported from there.
    """
    folder = target.workdir.resolve().relative_to(root.resolve())
    own = search_path(python, root, top)
    return replace(target, workdir=top / folder, environment=_with_own(target, own))


def _with_own(target: Target, own: Sequence[Path]) -> Mapping[str, str]:
    """Return variables that make a target import packages from the folders `own` first.

    They are the environment variables of its process; the packages are the user's.
    """
    if not own:
        return target.environment
    before = target.environment.get("PYTHONPATH") or os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join(filter(None, (*map(str, own), before)))
    return {**target.environment, "PYTHONPATH": path}


def target_with_interpreter(target: Target) -> tuple[Target, str]:
    """Return the target with the absolute path of its interpreter, and that path.

    A worktree does not change an absolute path. Raises EntryPointError.
    """
    from reprocheck import settings

    python = target.options.get("python") or settings.load({}, target.workdir).python
    path = find_python(str(python) if python else None, target.workdir)
    if target.words[0] == "--" or not python:
        return target, path
    return replace(target, options={**target.options, "python": path}), path
