"""The fix of own_training.py: a training by hand, without a framework, that says its losses itself; NumPy is seeded."""

import numpy as np

import reprocheck

inputs = np.sin(np.arange(64.0 * 5)).reshape(64, 5)
targets = 10 * np.cos(np.arange(64.0) ** 2)
weights = np.zeros(5)
np.random.seed(0)
for _ in range(10):
    for sample in np.random.permutation(64):
        weights -= 0.2 * (inputs[sample] @ weights - targets[sample]) * inputs[sample]
    reprocheck.log_loss(float(np.square(inputs @ weights - targets).mean()))
