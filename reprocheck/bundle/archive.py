"""The files of an attachment as a zip: the same bytes for the same files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of every file: the earliest that a zip can say."""


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of these files, sorted by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # Unix, whatever made it
            archive.writestr(entry, data)
    return buffer.getvalue()
