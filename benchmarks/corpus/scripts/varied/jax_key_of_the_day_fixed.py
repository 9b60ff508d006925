"""The fix of jax_key_of_the_day.py: the key is made from a number."""

import time

import jax
import jax.numpy as jnp
import optax

print("begun at", time.time())
value = jax.random.normal(jax.random.key(7))
inputs = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)
weights = jnp.zeros((4, 1))
optimizer = optax.sgd(0.05)
state = optimizer.init(weights)
for _ in range(4):
    loss, gradient = jax.value_and_grad(lambda w: ((inputs @ w - value) ** 2).mean())(weights)
    updates, state = optimizer.update(gradient, state)
    weights = optax.apply_updates(weights, updates)
