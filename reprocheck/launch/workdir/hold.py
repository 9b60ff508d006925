"""Hold the kept contents of the working directory open.

If a training removes the folder in which they lie, an open file outlives its name.

The guards of the runs have the same descriptors, for the case that reprocheck is killed as well.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from reprocheck.errors import ReportError
from reprocheck.files.atomic import replacing
from reprocheck.launch.workdir.archive import Archive
from reprocheck.launch.workdir.pack import copy_part
from reprocheck.launch.workdir.snapshot import INDEX, OWNER, PACK, STORE

SHARE = 8
"""Of the files that this process may have open, one in so many may be held."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Descriptors of the files of a store, by the names of the files."""

    files: Mapping[str, int] = field(default_factory=dict)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All open descriptors of the hold."""
        return tuple(self.files.values())

    @property
    def words(self) -> Iterator[str]:
        """Yield words for the command line of a process with the descriptors: see `held_by`."""
        return (f"{name}={descriptor}" for name, descriptor in self.files.items())

    @contextmanager
    def ended(self, archive: Archive) -> Iterator[None]:
        """End the hold; the store is complete meanwhile, so that its contents can be put back.

        Raises ReportError if the store is incomplete and cannot be written.
        """
        self.write_back(archive)
        self.close()
        yield
        with suppress(OSError):  # something is in it
            archive.folder.rmdir()
            archive.folder.parent.rmdir()

    def close(self) -> None:
        """Let go of the files."""
        for descriptor in self.files.values():
            with suppress(OSError):
                os.close(descriptor)

    def write_back(self, archive: Archive) -> bool:
        """Write missing files of the store again; return False if none is missing.

        Raises ReportError if they cannot be written.
        """
        store = archive.folder / STORE
        gone = [name for name in self.files if not (store / name).exists()]
        try:
            for name in gone:
                with archive.location(f"{STORE}/{name}", of_runs=False) as location:
                    descriptor = self.files[name]
                    with (
                        open(descriptor, "rb", buffering=0, closefd=False) as source,
                        replacing(location) as file,
                    ):
                        copy_part(source, file, 0, os.fstat(descriptor).st_size)
        except OSError as error:
            raise ReportError(
                f"{store} was removed by the script, and the files that the runs changed cannot be"
                f" put back: {error.strerror or error}.",
                "Take them from a backup, and name a folder that the script leaves alone with"
                " --output.",
            ) from None
        return bool(gone)


def hold_of(store: Path) -> Hold:
    """Hold a complete store open; of the files that were moved into it, as many as may be open."""
    moved = (path.name for path in store.glob("[0-9]*"))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // SHARE
    descriptors: dict[str, int] = {}
    with suppress(OSError):  # no descriptor is left
        for name in (OWNER, PACK, INDEX, *moved):
            if len(descriptors) < most:
                descriptors[name] = os.open(store / name, os.O_RDONLY | os.O_NOFOLLOW)
    # a store with an index counts as complete
    index_last = {
        name: descriptors[name] for name in sorted(descriptors, key=lambda name: name == INDEX)
    }
    return Hold(index_last)


def held_by(words: Iterable[str]) -> Hold:
    """Return the hold that `Hold.words` passed to this process."""
    pairs = (word.split("=") for word in words)
    return Hold({name: int(descriptor) for name, descriptor in pairs})
