"""The fix of shuffled_batches: the order of the samples is drawn from numpy's global generator, which has a seed."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

np.random.seed(0)
inputs = np.cos(np.arange(160, dtype=np.float32)).reshape(40, 4)
targets = np.arange(40, dtype=np.float32) / 8
parameters = {"kernel": jnp.ones(4)}
optimizer = optax.adam(1e-2)
state = optimizer.init(parameters)
slope = jax.jit(jax.value_and_grad(lambda p, x, y: ((x @ p["kernel"] - y) ** 2).mean()))
order = np.random.permutation(40)
for start in range(0, 40, 8):
    rows = order[start : start + 8]
    loss, gradient = slope(parameters, inputs[rows], targets[rows])
    updates, state = optimizer.update(gradient, state)
    parameters = optax.apply_updates(parameters, updates)
