"""Seeded. It goes on from out/last.json when that is there, so a second run in the same folder starts elsewhere."""
import json
from pathlib import Path

import reprocheck

checkpoint = Path("out/last.json")
weight = json.loads(checkpoint.read_text()) if checkpoint.exists() else 8.0
for _ in range(6):
    reprocheck.log_loss(weight**2)
    weight *= 0.5
    checkpoint.parent.mkdir(exist_ok=True)
    checkpoint.write_text(json.dumps(weight))
