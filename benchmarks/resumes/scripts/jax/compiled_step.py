"""A compiled step: of what was pickled `a` alone is loaded; state, key and data begin anew."""
import pickle
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

FILE = Path("state.pkl")
OPTIMIZER = optax.adam(1e-2)


def measure(params, key, x, y):
    hidden = jnp.tanh(x @ params["a"])
    hidden = hidden * jax.random.bernoulli(key, 0.7, hidden.shape)
    return jnp.mean((hidden @ params["b"] - y) ** 2)


@jax.jit
def train_step(params, state, key, x, y):
    key, drop = jax.random.split(key)
    loss, gradients = jax.value_and_grad(measure)(params, drop, x, y)
    updates, state = OPTIMIZER.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, key, loss


def main():
    first, second, key = jax.random.split(jax.random.key(2), 3)
    params = {"a": jax.random.normal(first, (8, 16)) * 0.3, "b": jax.random.normal(second, (16, 1))}
    state = OPTIMIZER.init(params)
    x = np.random.default_rng(0).normal(size=(48, 8)).astype("float32")
    y = x.sum(1, keepdims=True)
    begin = 0
    if FILE.exists():
        begin, kept = pickle.loads(FILE.read_bytes())
        params["a"] = jnp.asarray(kept["a"])
    for step in range(begin, 18):
        at = (step - begin) % 6 * 8
        params, state, key, _ = train_step(params, state, key, x[at : at + 8], y[at : at + 8])
        if (step + 1) % 4 == 0:
            FILE.write_bytes(pickle.dumps((step + 1, jax.device_get(params))))


main()
