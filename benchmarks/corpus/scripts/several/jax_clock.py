"""JAX: a key from the clock, data by NumPy's new generator, groups in a set."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

GROUPS = {"north", "south", "east", "west"}


def data() -> tuple[np.ndarray, np.ndarray]:
    offsets = {name: number for number, name in enumerate(GROUPS)}
    names = ("north", "south", "east", "west")
    group = np.array([offsets[names[row % 4]] for row in range(32)], dtype=np.float32)
    measured = np.random.default_rng().normal(size=(32, 3)).astype(np.float32)
    return np.column_stack([measured, group]), measured.sum(axis=1)


def loss_of(weights: dict[str, jax.Array], inputs: jax.Array, target: jax.Array) -> jax.Array:
    predicted = jnp.tanh(inputs @ weights["first"]) @ weights["second"]
    return jnp.mean((predicted - target) ** 2)


def main() -> None:
    first, second = jax.random.split(jax.random.PRNGKey(int(time.time())))
    weights = {
        "first": jax.random.normal(first, (4, 8)) * 0.3,
        "second": jax.random.normal(second, (8,)) * 0.3,
    }
    inputs, target = data()
    optimizer = optax.adam(0.01)
    state = optimizer.init(weights)
    for step in range(5):
        loss, gradients = jax.value_and_grad(loss_of)(weights, inputs, target)
        updates, state = optimizer.update(gradients, state)
        weights = optax.apply_updates(weights, updates)
        print(step, float(loss))


main()
