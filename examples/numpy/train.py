"""A two-layer network in NumPy, with gradients by hand: no framework that reprocheck knows, so the
script says its losses: REPRODUCIBLE.

    reprocheck run examples/numpy/train.py

`reprocheck.log_loss` does nothing when the script runs by itself. Under `reprocheck run` it works
also with `--python`, in an interpreter where reprocheck is not installed: the recorder brings a
`reprocheck` with `log_loss` along.
"""

import numpy as np

import reprocheck


def main() -> None:
    rng = np.random.default_rng(1234)
    inputs = rng.standard_normal((256, 8))
    targets = np.sin(inputs.sum(axis=1, keepdims=True))
    first, second = rng.standard_normal((8, 32)) * 0.3, rng.standard_normal((32, 1)) * 0.3
    for _ in range(50):
        rows = rng.choice(256, size=64, replace=False)
        x, y = inputs[rows], targets[rows]
        hidden = np.tanh(x @ first)
        error = hidden @ second - y
        loss = np.mean(error**2)
        reprocheck.log_loss(loss)
        slope = 2.0 * error / len(rows)
        behind = slope @ second.T * (1.0 - hidden**2)
        second -= 0.1 * hidden.T @ slope
        first -= 0.1 * x.T @ behind
    print(f"last loss {loss:.4f}")


if __name__ == "__main__":
    main()
