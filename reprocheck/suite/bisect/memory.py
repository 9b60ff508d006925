"""What a search has found out so far, in a file, so that it goes on after an interruption."""

from __future__ import annotations

from pathlib import Path

import msgspec

from reprocheck.errors import ReportError
from reprocheck.files.atomic import replacing
from reprocheck.suite.bisect.search import Answer

FILE = "bisect.json"


class Remembered(msgspec.Struct, kw_only=True, frozen=True):
    """Hold the answer for one checked candidate."""

    answer: Answer
    reason: str = ""


class Memory:
    """Keep the answers of a search on disk, by identity of the checked candidate, each as soon as
    it is known.

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
        """Return the stored packed curves that candidates are compared with; b"" if there are none
        yet.
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
