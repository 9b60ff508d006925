"""Raises in iteration 2."""
import reprocheck

for iteration in range(4):
    if iteration == 1:
        raise RuntimeError("out of patience")
    reprocheck.log_loss(1.0)
