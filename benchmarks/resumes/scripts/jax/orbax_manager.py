"""`CheckpointManager` of orbax; the first batch comes again after each start."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp


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
    options = ocp.CheckpointManagerOptions(save_interval_steps=4, max_to_keep=2)
    with ocp.CheckpointManager(Path("kept").absolute(), options=options) as manager:
        begin = 0
        if manager.latest_step() is not None:
            begin = manager.latest_step()
            like = ocp.args.StandardRestore({"params": params, "state": state})
            kept = manager.restore(begin, args=like)
            params, state = kept["params"], kept["state"]
        for step in range(begin, 18):
            at = (step - begin) % 6 * 8
            _, gradients = jax.value_and_grad(measure)(params, x[at : at + 8], y[at : at + 8])
            updates, state = optimizer.update(gradients, state, params)
            params = optax.apply_updates(params, updates)
            if step:
                kept = {"params": params, "state": state}
                manager.save(step + 1, args=ocp.args.StandardSave(kept))


main()
