"""Writes values to disk, with tensors as their bytes.

The framework's own savers are not used, because they are watched as savers of the script.
"""

from __future__ import annotations

import os
import pickle

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable

    Encode = Callable[[Any], Any]
    Decode = Callable[[Any], Any]


class Codec:
    """A reader and writer of values that pickle can hold, with tensors anywhere in them."""

    def __init__(self) -> None:
        self._kinds: dict[str, tuple[Encode, Decode]] = {}

    def add(self, framework: str, encode: Encode, decode: Decode) -> None:
        """Let the codec write tensors of one more framework.

        encode  returns a tuple without tensors for a tensor; None for any other value
        decode  makes the tensor from such a tuple
        """
        self._kinds[framework] = encode, decode

    def write(self, value: Any, file: Any) -> None:
        """Write a value to an open file.

        Raises OSError, and what pickle raises.
        """
        self._pickler(file).dump(value)

    def read(self, path: str) -> Any:
        """Read a value back.

        Raises OSError, and what pickle raises.
        """
        with open(path, "rb") as file:
            return self._unpickler(file).load()

    def _pickler(self, file: Any) -> pickle.Pickler:
        kinds = self._kinds

        class Pickler(pickle.Pickler):
            def persistent_id(self, value: Any) -> Any:
                for framework, (encode, _) in kinds.items():
                    encoded = encode(value)
                    if encoded is not None:
                        return framework, encoded
                return None

        return Pickler(file, protocol=5)

    def _unpickler(self, file: Any) -> pickle.Unpickler:
        kinds = self._kinds

        class Unpickler(pickle.Unpickler):
            def persistent_load(self, value: Any) -> Any:
                framework, encoded = value
                return kinds[framework][1](encoded)

        return Unpickler(file)


class Room:
    """Hold files in a folder, up to a total size.

    most  size of all files together, in bytes
    """

    def __init__(self, folder: str, most: int) -> None:
        self.folder = folder
        self._left = most
        os.makedirs(folder, exist_ok=True)

    def path(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return os.path.join(self.folder, name)

    def put(self, codec: Codec, value: Any, name: str) -> bool:
        """Write a value completely or not at all; return whether there was room.

        Raises OSError, and what pickle raises.

        name  name of the file in the folder
        """
        draft = self.path("." + name)
        try:
            with open(draft, "wb") as file:
                limited = _Limited(file.write, self._left)
                codec.write(value, limited)
            os.replace(draft, self.path(name))
            self._left = limited.left
            return True
        except _Full:
            return False
        finally:
            if os.path.exists(draft):
                os.remove(draft)


class _Full(Exception):  # noqa: N818 - no error of anybody's
    """Report that a folder has no more room."""


class _Limited:
    """Limit the size of a file, with the methods that pickle needs."""

    def __init__(self, write: Callable[[bytes], object], most: int) -> None:
        self._write = write
        self.left = most

    def write(self, data: bytes) -> None:
        """Write data; raise _Full if the file would pass its limit."""
        self.left -= memoryview(data).nbytes
        if self.left < 0:
            raise _Full
        self._write(data)
