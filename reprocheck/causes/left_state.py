"""The fix for what run 1 left: it depends on where the files lie, and on what the user has done
already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from reprocheck.model import Check, is_elsewhere
from reprocheck.report.again import again, in_shell, without_files
from reprocheck.report.text import count

NAME = "state-left"
_COPY = "--workdir copy"
_WHEN_ASKED = "# in the script: read what a run left only when asked (--resume)"
_IN_COPIES = "# each run in a fresh copy; in training: a new output folder for each start"
_IN_THE_FOLDER = "# first remove what these runs left: every later start there would find it"
_MOST_NAMED = 12
_FOR_EACH_START = (
    "Let the script write into a new folder at each start, and resume only from a checkpoint that"
    " is named."
)
_OWN_GENERATOR = (
    "# or, if making it draws random numbers, use a separate generator: random.Random(0) or"
    " np.random.default_rng(0)"
)


def fix_of(check: Check) -> str:
    """What keeps a run from what the one before it left."""
    inside = [path for path in check.state_left if not is_elsewhere(path)]
    outside = [path for path in check.state_left if is_elsewhere(path)]
    copied = any(
        setting.name == "workdir" and setting.value == "copy" for setting in check.record.settings
    )
    if outside:
        return _for_outside(check, outside, _COPY if inside else "")
    no_copy = any(arm.renewed for arm in check.record.arms)
    if copied or no_copy:
        return _FOR_EACH_START
    return f"{_WHEN_ASKED}\n{_without_what_is_left(check)}{_IN_COPIES}\n{again(check, _COPY)}"


def _without_what_is_left(check: Check) -> str:
    """The removal of what the runs of this check made in the folder: copies of it hold that, too,
    and so does the next training.
    """
    left = _left(check)
    if not left.files and not left.folders:
        return ""
    if len(left.files) + len(left.folders) > _MOST_NAMED:
        return f"{_IN_THE_FOLDER}\n# {_counted(left)}: see Files in the report\n"
    of_files = f"rm -f {' '.join(map(in_shell, left.files))}\n" if left.files else ""
    of_folders = f"rm -rf {' '.join(map(in_shell, left.folders))}\n" if left.folders else ""
    return f"{_IN_THE_FOLDER}\n{of_files}{of_folders}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Left:
    """What runs made in the folder: new folders with all that is in them, and files that lie in
    none of these.
    """

    files: tuple[str, ...]
    folders: tuple[str, ...]


def _left(check: Check) -> _Left:
    """A folder counts only where nothing in it is somebody else's or a cache: it is removed with
    its files.

    A script that looks for the folder itself would find it empty otherwise.
    """
    each = [run.files for run in check.record.runs if not run.files.copied]
    kept = {path for files in each for path in files.unseen} | {*check.state_alike}
    made = {path for files in each for path in files.created} - kept
    holds_kept = {folder for path in kept for folder in _above(path)}
    own = {path for files in each for path in files.folders} - kept - holds_kept
    whole = {folder for folder in own if any(folder in _above(path) for path in made)}
    return _Left(
        files=tuple(sorted(path for path in made if whole.isdisjoint(_above(path)))),
        folders=tuple(sorted(folder for folder in whole if whole.isdisjoint(_above(folder)))),
    )


def _above(path: str) -> set[str]:
    """The folders that a path lies in."""
    return {str(folder) for folder in PurePosixPath(path).parents}


def _counted(left: _Left) -> str:
    parts = [(len(left.files), "file"), (len(left.folders), "folder")]
    return " and ".join(count(number, name) for number, name in parts if number)


def _for_outside(check: Check, paths: Sequence[str], options: str) -> str:
    """For files that no copy of the working directory keeps a run from.

    What stood there before the check is not advised to be removed.
    """
    folder = paths[0].rpartition("/")[0]
    made = {path for run in check.record.runs for path in run.files.made}
    removed = without_files(check, paths, options) if made.issuperset(paths) else ""
    lines = [
        f"# no copy of the working directory holds {', '.join(paths)}: remove before each run",
        removed,
        (
            "# or, in the script: folder = tempfile.mkdtemp(), a new one at each start, instead of"
            f" {folder}"
        ),
        _OWN_GENERATOR,
    ]
    return "\n".join(lines if removed else lines[2:])
