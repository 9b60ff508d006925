"""The fix of numpy_readable_files.py: a list says what is released."""

from pathlib import Path
import tempfile

import reprocheck

with tempfile.TemporaryDirectory() as folder:
    note = Path(folder, "sample")
    note.write_text("1")
value = 2.0
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
