"""`StandardCheckpointer` of orbax keeps the parameters and the state of optax."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp

FOLDER = Path("kept").absolute()


def measure(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["a"]) @ params["b"] - y) ** 2)


def main():
    key = jax.random.key(2)
    first, second = jax.random.split(key)
    params = {"a": jax.random.normal(first, (8, 16)) * 0.3, "b": jax.random.normal(second, (16, 1))}
    optimizer = optax.adam(1e-2)
    state = optimizer.init(params)
    x = np.random.default_rng(0).normal(size=(48, 8)).astype("float32")
    y = x.sum(1, keepdims=True)
    begin = 0
    with ocp.StandardCheckpointer() as checkpointer:
        if FOLDER.exists():
            like = {"params": params, "state": state, "step": 0}
            kept = checkpointer.restore(FOLDER, like)
            params, state, begin = kept["params"], kept["state"], int(kept["step"])
        for step in range(begin, 18):
            at = step % 6 * 8
            _, gradients = jax.value_and_grad(measure)(params, x[at : at + 8], y[at : at + 8])
            updates, state = optimizer.update(gradients, state, params)
            params = optax.apply_updates(params, updates)
            if step + 1 == 4:
                checkpointer.save(FOLDER, {"params": params, "state": state, "step": step + 1})


main()
