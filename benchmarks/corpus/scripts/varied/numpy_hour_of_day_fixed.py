"""The fix of numpy_hour_of_day.py: the curriculum begins with a stage of the configuration."""

from datetime import UTC, datetime

import reprocheck

STAGES = [float(stage) for stage in range(1, 25)]
value = STAGES[3]
print("begun at", datetime.now(UTC))
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
