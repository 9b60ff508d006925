"""The user's files and the ends of logs in an attachment, where the sender asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from reprocheck.model import Run
from reprocheck.redaction import Redaction

FOLDER, LOGS = "source", "log"


def files(texts: Mapping[str, str], redaction: Redaction) -> dict[str, bytes]:
    """Return the texts of the user's files by their places in the attachment, through the detector.

    None in `strict`, where no free text leaves.
    """
    shown = {_place(redaction.path(name)): redaction.source(text) for name, text in texts.items()}
    return {name: text.encode("utf-8", "replace") for name, text in shown.items() if text}


def logs(shown: Iterable[Run]) -> dict[str, bytes]:
    """Return the ends of the runs' logs, as far as they may leave, by place in the attachment."""
    ends = {
        f"{LOGS}/run-{run.number}-{name}.txt": end
        for run in shown
        for name, end in (("stdout", run.stdout_tail), ("stderr", run.stderr_tail))
    }
    return {name: end.encode("utf-8", "replace") for name, end in ends.items() if end.strip()}


def _place(name: str) -> str:
    """Return where a file stands: as in the project; one from elsewhere by its name alone."""
    # between the name of a notebook and the number of a cell, as reports name it
    notebook, is_cell, number = name.partition(":cell ")
    if is_cell:
        name = f"{notebook}.cell-{number}.py"
    path = PurePosixPath(name)
    if name.startswith(("/", "~", "<")) or ".." in path.parts:
        return f"{FOLDER}/elsewhere/{path.name}"
    return f"{FOLDER}/{path}"
