"""Losses that a script says itself: no framework is needed. `python said.py [START]`.

In SHIFTS stands what each run adds to its losses, in the order of the runs: noise whose size is known.
"""

import os
import sys
from pathlib import Path

import reprocheck

start = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
shifts = [float(shift) for shift in os.environ.get("SHIFTS", "").split()]
run = int(Path(os.environ["REPROCHECK_CHILD"]).parent.name.removeprefix("run-"))
shift = shifts[run - 1] if shifts else 0.0
for step in range(4):
    reprocheck.log_loss(start / (step + 1) + shift)
