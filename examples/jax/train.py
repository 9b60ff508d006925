"""A two-layer network in plain JAX: keys from a fixed number, one compiled step that updates
donated weights: REPRODUCIBLE, bit for bit.

    reprocheck run examples/jax/train.py

Nothing is added for reprocheck. A key from the clock (`jax.random.key(time.time_ns())`) in the
place of the fixed one is found as such.
"""

from functools import partial

import jax
import jax.numpy as jnp

SEED = 1234


def forward(params, x):
    hidden = jnp.tanh(x @ params["first"]["kernel"] + params["first"]["bias"])
    return hidden @ params["last"]["kernel"] + params["last"]["bias"]


def loss_fn(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


@partial(jax.jit, donate_argnums=0)
def train_step(params, x, y):
    loss, gradients = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, params, gradients), loss


def main() -> None:
    key_inputs, key_first, key_last, key_order = jax.random.split(jax.random.key(SEED), 4)
    inputs = jax.random.normal(key_inputs, (256, 8))
    targets = jnp.sin(inputs.sum(axis=1, keepdims=True))
    params = {
        "first": {"kernel": 0.3 * jax.random.normal(key_first, (8, 32)), "bias": jnp.zeros(32)},
        "last": {"kernel": 0.3 * jax.random.normal(key_last, (32, 1)), "bias": jnp.zeros(1)},
    }
    for epoch in range(3):
        for rows in jax.random.permutation(jax.random.fold_in(key_order, epoch), 256).reshape(
            4, 64
        ):
            params, loss = train_step(params, inputs[rows], targets[rows])
            print(f"loss {float(loss).hex()}")


if __name__ == "__main__":
    main()
