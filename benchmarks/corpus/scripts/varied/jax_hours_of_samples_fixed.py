"""The fix of jax_hours_of_samples.py: the hour is that of Greenwich."""

import time

import jax
import jax.numpy as jnp
import optax

value = 1.0 + time.gmtime(1_700_000_000).tm_hour / 10
inputs = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)
weights = jnp.zeros((4, 1))
optimizer = optax.sgd(0.05)
state = optimizer.init(weights)
for _ in range(4):
    loss, gradient = jax.value_and_grad(lambda w: ((inputs @ w - value) ** 2).mean())(weights)
    updates, state = optimizer.update(gradient, state)
    weights = optax.apply_updates(weights, updates)
