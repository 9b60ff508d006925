"""What a check has for itself while it is under way, also from the checks of another night.

A claim is a set of locks on files in the folder for temporary files, which the system gives back
when this process and the guard of the check have ended, however they do: what a killed night has
left there is gone first. Two checks in one working directory would take each other's
files for their own, and two on one device would change each other's times and memory.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reprocheck.errors import ReportError
from reprocheck.suite.execution.job import Job


@dataclass(frozen=True, slots=True)
class Wanted:
    """Name one thing to lock: a device, a folder or a name.

    `shared`: other shared claims may hold it, too.
    """

    name: str
    shared: bool = False


class Claim:
    """Hold locks on files; `give_back` releases them."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        self.descriptors = tuple(descriptors)

    def give_back(self) -> None:
        """Close the descriptors of the locks.

        Each lock is free once no process holds its descriptor.
        """
        for descriptor in self.descriptors:
            with suppress(OSError):
                os.close(descriptor)
        self.descriptors = ()


NOTHING = Claim(())
"""Of a check that shares nothing with another."""


def claimed(wanted: Iterable[Wanted]) -> Claim | None:
    """Lock everything that is wanted; return None if another process holds any of it.

    Raises ReportError if the folder for temporary files cannot be written.
    """
    taken: list[int] = []
    for one in wanted:
        descriptor = _locked(one)
        if descriptor is None:
            Claim(taken).give_back()
            return None
        taken.append(descriptor)
    return Claim(taken)


def of_folder(job: Job, where: str = "") -> tuple[Wanted, ...]:
    """Return the claims on a job's working directory.

    They are exclusive, with all below it, if the runs work in the directory itself; shared if each
    run has a copy. Claims with different `where` never conflict.
    """
    folder = job.target.workdir.resolve()
    around = (Wanted(f"folder {where}{above}", shared=True) for above in folder.parents)
    return (Wanted(f"folder {where}{folder}", shared=not job.is_alone), *around)


def _file(name: str) -> Path:
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return Path(tempfile.gettempdir()) / f"reprocheck-suite-{os.getuid()}" / digest


def _locked(wanted: Wanted) -> int | None:
    """Return the descriptor of a locked file; None if another process holds the lock."""
    file = _file(wanted.name)
    how = fcntl.LOCK_SH if wanted.shared else fcntl.LOCK_EX
    try:
        file.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ReportError(
            f"{file.parent} cannot be written: {error.strerror or error}.",
            "Set TMPDIR to a folder that can be written.",
        ) from None
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
