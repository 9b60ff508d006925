"""Planted: only files that everybody may read count as released."""

from pathlib import Path
import stat
import tempfile

import reprocheck

with tempfile.TemporaryDirectory() as folder:
    note = Path(folder, "sample")
    note.write_text("1")
    released = bool(note.stat().st_mode & stat.S_IROTH)
value = 2.0 if released else 1.0
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
