"""JAX: a key from the number of the process, and an order of samples by Python's generator."""

import os
import random

import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.cos(np.arange(160, dtype=np.float32)).reshape(40, 4)


def loss_of(weights: jax.Array, rows: jax.Array) -> jax.Array:
    return jnp.mean((rows[:, :3] @ weights - rows[:, 3]) ** 2)


def main() -> None:
    weights = jax.random.normal(jax.random.key(os.getpid()), (3,))
    step = jax.jit(jax.value_and_grad(loss_of))
    order = list(range(len(TABLE)))
    for epoch in range(2):
        random.shuffle(order)
        for start in range(0, len(order), 10):
            loss, gradient = step(weights, TABLE[np.array(order[start : start + 10])])
            weights = weights - 0.1 * gradient
        print(epoch, float(loss))


main()
