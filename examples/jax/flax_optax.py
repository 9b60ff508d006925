"""Flax NNX and Optax: batch norm, dropout, AdamW with a schedule, batches drawn with a seeded
generator: REPRODUCIBLE, bit for bit.

reprocheck run examples/jax/flax_optax.py
"""

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

SEED = 1234


class Net(nnx.Module):
    """Two layers, normalised and dropped between."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(8, 32, rngs=rngs)
        self.norm = nnx.BatchNorm(32, rngs=rngs)
        self.drop = nnx.Dropout(0.25, rngs=rngs)
        self.last = nnx.Linear(32, 1, rngs=rngs)

    def __call__(self, x):
        return self.last(self.drop(nnx.relu(self.norm(self.first(x)))))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, gradients = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, gradients)
    return loss


def main() -> None:
    rng = np.random.default_rng(SEED)
    inputs = rng.standard_normal((256, 8)).astype("float32")
    targets = np.sin(inputs.sum(axis=1, keepdims=True))
    model = Net(nnx.Rngs(SEED))
    optimizer = nnx.Optimizer(
        model, optax.adamw(optax.cosine_decay_schedule(3e-3, 20)), wrt=nnx.Param
    )
    model.train()
    for _ in range(12):
        rows = rng.choice(256, size=64, replace=False)
        loss = train_step(model, optimizer, inputs[rows], targets[rows])
        print(f"loss {float(loss).hex()}")


if __name__ == "__main__":
    main()
