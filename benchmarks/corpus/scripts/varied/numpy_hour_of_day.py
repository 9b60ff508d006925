"""Planted: the curriculum begins with the hour of the day."""

from datetime import UTC, datetime

import reprocheck

STAGES = [float(stage) for stage in range(1, 25)]
value = STAGES[datetime.now(UTC).hour]
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
