"""The checks made by hand that the tests of the reports have are used here, too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
