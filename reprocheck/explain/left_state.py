"""The fix for what run 1 left: it depends on where the files lie, and on what the user has done already."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.model import Check, is_elsewhere
from reprocheck.report.again import again, in_shell, without_files

NAME = "state-left"
_COPY = "--workdir copy"
_WHEN_ASKED = "# in the script: read what a run left only when asked (--resume)"
_IN_COPIES = "# each run in a fresh copy; in training: a new output folder for each start"
_IN_THE_FOLDER = "# first remove what these runs left: every later start there would find it"
_MOST_NAMED = 12
_FOR_EACH_START = "Let the script write into a new folder at each start, and resume only from a checkpoint that is named."
_OWN_GENERATOR = "# or, where its making draws random numbers: from a generator of its own, random.Random(0) or np.random.default_rng(0)"


def fix_of(check: Check) -> str:
    """What keeps a run from what the one before it left."""
    inside = [path for path in check.state_left if not is_elsewhere(path)]
    outside = [path for path in check.state_left if is_elsewhere(path)]
    copied = any(setting.name == "workdir" and setting.value == "copy" for setting in check.record.settings)
    if outside:
        return _for_outside(check, outside, _COPY if inside else "")
    no_copy = any(arm.renewed for arm in check.record.arms)
    if copied or no_copy:
        return _FOR_EACH_START
    return f"{_WHEN_ASKED}\n{_without_what_is_left(check)}{_IN_COPIES}\n{again(check, _COPY)}"


def _without_what_is_left(check: Check) -> str:
    """The removal of what the runs of this check made in the folder: copies of it hold that, too, and so does the next training."""
    each = [run.files for run in check.record.runs if not run.files.copied]
    unseen = {path for files in each for path in files.unseen}
    made = {path for files in each for path in files.created} - unseen - {*check.state_alike}
    if not made or len(made) > _MOST_NAMED:
        return f"{_IN_THE_FOLDER}\n# {len(made)} files: see Files in the report\n" if made else ""
    return f"{_IN_THE_FOLDER}\nrm -f {' '.join(map(in_shell, sorted(made)))}\n"


def _for_outside(check: Check, paths: Sequence[str], options: str) -> str:
    """For files that no copy of the working directory keeps a run from. What stood there before the check is not advised to be removed."""
    folder = paths[0].rpartition("/")[0]
    made = {path for run in check.record.runs for path in run.files.made}
    removed = without_files(check, paths, options) if made.issuperset(paths) else ""
    lines = [
        f"# no copy of the working directory holds {', '.join(paths)}: remove before each run",
        removed,
        f"# or, in the script: folder = tempfile.mkdtemp(), a new one at each start, instead of {folder}",
        _OWN_GENERATOR,
    ]
    return "\n".join(lines if removed else lines[2:])
