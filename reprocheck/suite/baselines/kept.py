"""Deeper recordings that are kept beside a baseline, so that a later night can be held against
them.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.execution import Job, perform
from reprocheck.suite.model import Key, Target, TargetCheck
from reprocheck.suite.targets import folder_name

FOLDER = "kept"


def place(target: str, key: Key) -> str:
    """Where the recording of a target and key is kept, relative to the folder of the suite."""
    return f"{FOLDER}/{folder_name(target)}/{key.digest}.zip"


def record(target: Target, check: TargetCheck, root: Path) -> Path:
    """Records a target now, at level `module`, and keeps that for the key of a check; returns the
    file.

    Raises BaselineError where nothing was recorded, ReportError where it cannot be written.
    """
    file = root / place(target.name, check.key)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".recording-", dir=file.parent) as temporary:
        inside = Path(temporary, "report").relative_to(root).as_posix()
        job = Job(target=target, night=check.night, root=root, place=inside, kind="recording")
        performed = perform(job)
        if not job.recording.is_file():
            why = performed.error or f"it ended with exit status {performed.exit_status}"
            raise BaselineError(
                f"The deeper recording of {target.name} could not be made: {why}.",
                "Leave out --record, or try `reprocheck record --level module` on its script.",
            )
        shutil.move(job.recording, file)
    return file
