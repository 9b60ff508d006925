"""What a search for the guilty change has found out so far, and what it came to, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from reprocheck.errors import ReportError
from reprocheck.files.atomic import replacing
from reprocheck.suite.bisect.commits import CommitFacts
from reprocheck.suite.bisect.packages import Change
from reprocheck.suite.bisect.search import Answer

By = Literal["bitwise", "verdict"]
"""What a candidate is judged by: its curves against the good night's, or the verdict of a check."""
Outcome = Literal[
    "found", "several", "options", "good end is bad", "bad end is good", "bad end is skipped"
]
"""`options`: nothing but what the target was run with differs between the nights."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guilty:
    """Describe the guilty change: a commit, or packages that moved together."""

    commit: CommitFacts | None = None
    packages: tuple[Change, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """Describe one candidate that was checked.

    candidate  a short name: a commit, a package with its version
    answer     `good`, `bad` or `skip`
    reason     what differed or failed; "" if the candidate is good
    """

    candidate: str
    answer: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bisected:
    """The answer of a search.

    good, bad     the nights
    candidates    how many changes lie between them
    most          the most candidates that may be checked on a chain: ⌈log2 n⌉ + 1
    checked       the candidates that were looked at, in this order, those of an earlier start too
    made          how many checks this start made
    guilty        the guilty change; if the outcome is `several`, one of these changes is guilty
    good_checked  whether a good candidate was seen here
    options       what the target was run with that is not the same in both nights: name -> (then,
                  now)
    options_of    the night with whose options the candidates were run, where those differ
    elsewhere     other facts that differ between the nights: name -> (then, now). They cannot be
                  searched
    notes         what limits the answer, as sentences
    """

    target: str
    good: str
    bad: str
    by: By
    outcome: Outcome
    candidates: int
    most: int
    checked: tuple[Checked, ...] = ()
    made: int = 0
    guilty: tuple[Guilty, ...] = ()
    good_checked: bool = True
    options: dict[str, tuple[str, str]] = field(default_factory=dict)
    options_of: str = ""
    elsewhere: dict[str, tuple[str, str]]
    notes: tuple[str, ...] = ()


FILE = "bisect.json"


class Remembered(msgspec.Struct, kw_only=True, frozen=True):
    """Hold the answer for one checked candidate."""

    answer: Answer
    reason: str = ""


class Memory:
    """Keep the answers of a search on disk, each as soon as it is known.

    They are stored by identity of the checked candidate.

    Raises ReportError if the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / FILE
        self._answers = self._read()

    def get(self, identity: str) -> Remembered | None:
        """Return the answer for a candidate's identity; None if it was not checked yet."""
        return self._answers.get(identity)

    def keep(self, identity: str, found: Remembered) -> None:
        """Store the answer for an identity; it is durable on disk when this returns."""
        self._answers[identity] = found
        self._write(self._file, msgspec.json.format(msgspec.json.encode(self._answers)))

    def curves(self, identity: str) -> bytes:
        """Return the stored packed curves that candidates are compared with.

        b"" if there are none yet.
        """
        try:
            return self._curves(identity).read_bytes()
        except OSError:
            return b""

    def keep_curves(self, identity: str, packed: bytes) -> None:
        """Store packed curves; they are durable on disk when this returns."""
        self._write(self._curves(identity), packed)

    def forget(self) -> None:
        """Remove all stored answers and curves."""
        self._answers = {}
        for file in (self._file, *self.folder.glob("*.curves")):
            file.unlink(missing_ok=True)

    def _curves(self, identity: str) -> Path:
        return self.folder / f"{identity}.curves"

    def _write(self, path: Path, content: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.write(content)
        except OSError as error:
            raise ReportError(
                f"{path} cannot be written: {error.strerror or error}.",
                "Make room on its disk; what was checked before is kept.",
            ) from None

    def _read(self) -> dict[str, Remembered]:
        """Return the stored answers; none if the file is truncated or not ours."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, Remembered])
        except (OSError, msgspec.MsgspecError):
            return {}
