"""What a search has found out so far, in a file, so that it goes on after an interruption."""

from __future__ import annotations

from pathlib import Path

import msgspec

from reprocheck.errors import ReportError
from reprocheck.files.atomic import replacing
from reprocheck.suite.bisect.search import Answer

FILE = "bisect.json"


class Remembered(msgspec.Struct, kw_only=True, frozen=True):
    """What a candidate came to."""

    answer: Answer
    reason: str = ""


class Memory:
    """The answers of a search by the identity of what was checked, kept as soon as they are
    there.

    Raises ReportError where the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / FILE
        self._answers = self._read()

    def get(self, identity: str) -> Remembered | None:
        """Return what that came to; None where it was not checked yet."""
        return self._answers.get(identity)

    def keep(self, identity: str, found: Remembered) -> None:
        """Durable when it returns."""
        self._answers[identity] = found
        self._write(self._file, msgspec.json.format(msgspec.json.encode(self._answers)))

    def curves(self, identity: str) -> bytes:
        """Return the packed curves that the others are held against; b"" where they are not there
        yet.
        """
        try:
            return self._curves(identity).read_bytes()
        except OSError:
            return b""

    def keep_curves(self, identity: str, packed: bytes) -> None:
        """Durable when it returns."""
        self._write(self._curves(identity), packed)

    def forget(self) -> None:
        """Start anew."""
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
        """Return what is there; nothing, where the file is not ours or was cut."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, Remembered])
        except (OSError, msgspec.MsgspecError):
            return {}
