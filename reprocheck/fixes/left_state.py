"""Choose the fix for what run 1 left.

It depends on where the files lie, and on what the user has done already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from reprocheck.fixes.seeds import BY_NAME
from reprocheck.model import Check, is_elsewhere
from reprocheck.model.statement import Statement
from reprocheck.model.statements.fixes import LeftInFolder, Parts
from reprocheck.report.command_line import again, in_shell, without_files

NAME = "state-left"
_COPY = "--workdir copy"
_WHEN_ASKED = "# in the script: read what a run left only when asked (--resume)"
_IN_COPIES = "# each run in a fresh copy; in training: a new output folder for each start"
_IN_THE_FOLDER = "# first remove what these runs left: every later start there would find it"
_DRAWN = (
    "# a start that makes {path} draws for it, and a later one does not: seed once more below the\n"
    "# line that makes or loads it, or make it with a generator of its own\n"
)
_ALIKE = "# from the third start on all runs find it, and agree\n"
_MOST_NAMED = 12
_NONE: frozenset[str] = frozenset()
_FOR_EACH_START = (
    "Let the script write into a new folder at each start, and resume only from a checkpoint that"
    " is named."
)
_OWN_GENERATOR = (
    "# or, if making it draws random numbers, use a separate generator: random.Random(0) or"
    " np.random.default_rng(0)"
)


def fix_of(check: Check) -> Statement | str:
    """Return the advice that keeps a run from reading files that the run before it left."""
    outside = [path for path in check.state_left if is_elsewhere(path)]
    if outside:
        return _for_outside(check, outside)
    settings = {setting.name: setting.value for setting in check.record.settings}
    no_copy = any(arm.renewed for arm in check.record.arms)
    if no_copy or settings.get("workdir") == "copy":
        return _FOR_EACH_START
    advice = _seed_again(check) or f"{_WHEN_ASKED}\n"
    left = _left(check)
    in_copies = f"{_IN_COPIES}\n{again(check, _COPY)}"
    files, folders = len(left.files), len(left.folders)
    if files + folders > _MOST_NAMED:
        number = LeftInFolder(files=files, folders=folders)
        return Parts(parts=(f"{advice}{_IN_THE_FOLDER}\n", number, in_copies))
    removals = ""
    if left.files:
        removals += f"rm -f {' '.join(map(in_shell, left.files))}\n"
    if left.folders:
        removals += f"rm -rf {' '.join(map(in_shell, left.folders))}\n"
    if removals:
        # copies of the folder hold what was left, too, and so does the next training
        removals = f"{_IN_THE_FOLDER}\n{removals}"
    return f"{advice}{removals}{in_copies}"


def _seed_again(check: Check) -> str:
    """Return the advice for a file that was made by drawing random numbers; "" for others.

    Of all that the training is given, the state of a generator of the process is then the first
    that differs.
    """
    first = check.training_rung
    if first is None or first.rung != "RNG state":
        return ""
    streams = filter(None, map(BY_NAME.get, first.generators.names))
    seeds = [stream.call for stream in streams if stream.draws]
    if not seeds:
        return ""
    return _DRAWN.format(path=check.state_left[0]) + "".join(f"{seed}\n" for seed in seeds) + _ALIKE


@dataclass(frozen=True, kw_only=True, slots=True)
class _Left:
    """Files that runs made in the folder.

    New folders with all that is in them, and files that lie in none of these.
    """

    files: tuple[str, ...]
    folders: tuple[str, ...]


def _left(check: Check) -> _Left:
    """Return the files and folders that a run left behind and that may be removed.

    A folder counts only if it holds no file of somebody else and no cache: it is removed with its
    files. A script that looks for the folder itself would find it empty otherwise.
    """
    each = [run.files for run in check.record.runs if not run.files.copied]
    kept = _NONE.union(check.state_alike, *(files.unseen for files in each))
    made = _NONE.union(*(files.created for files in each)) - kept
    own = _NONE.union(*(files.folders for files in each)) - kept
    whole = (own - _all_above(kept)) & _all_above(made)
    return _Left(files=_outside_of(whole, made), folders=_outside_of(whole, whole))


def _outside_of(folders: frozenset[str], paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that lie in none of these folders."""
    return tuple(sorted(path for path in paths if folders.isdisjoint(_above(path))))


def _all_above(paths: Iterable[str]) -> frozenset[str]:
    """Return the folders that any of these paths lies in."""
    return _NONE.union(*map(_above, paths))


def _above(path: str) -> frozenset[str]:
    """Return the folders that a path lies in."""
    return frozenset(map(str, PurePosixPath(path).parents))


def _for_outside(check: Check, paths: Sequence[str]) -> str:
    """Return the fix for files that no copy of the working directory keeps a run from.

    What stood there before the check is not advised to be removed.
    """
    folder = paths[0].rpartition("/")[0]
    new_folder = (
        "# or, in the script: folder = tempfile.mkdtemp(), a new one at each start, instead of"
        f" {folder}"
    )
    lines = [new_folder, _OWN_GENERATOR]
    made = _NONE.union(*(run.files.made for run in check.record.runs))
    if made.issuperset(paths):
        # what else was left lies in the folder, where a copy keeps runs from it
        options = _COPY if len(paths) < len(check.state_left) else ""
        removed = without_files(check, paths, options)
        why = f"# no copy of the working directory holds {', '.join(paths)}: remove before each run"
        lines = [why, removed, *lines]
    return "\n".join(lines)
