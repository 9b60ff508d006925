"""A training of a moment: NumPy without a framework, and a loss that it names itself."""

import numpy as np

import reprocheck

generator = np.random.default_rng(0)
rows, labels = generator.normal(size=(64, 8)), generator.normal(size=64)
weights = np.zeros(8)
for _ in range(10):
    error = rows @ weights - labels
    reprocheck.log_loss(float(np.mean(error**2)))
    weights -= 0.05 * rows.T @ error / len(rows)
