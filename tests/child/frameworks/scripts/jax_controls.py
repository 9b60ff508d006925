"""Draws from every source that a control for JAX can fix, trains twice, and prints what it got."""

import json
import os
import time
from pathlib import Path

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

found = {"flags": os.environ.get("XLA_FLAGS", ""), "disabled": bool(jax.config.jax_disable_jit)}
keys = {"clock": time.time_ns() % 2**31, "system": int.from_bytes(os.urandom(4), "big") % 2**31}
found["keys"] = {name: jax.random.key_data(jax.random.key(seed)).tolist() for name, seed in keys.items()}
found["private"] = np.random.default_rng().normal()
found["seeded"] = np.random.normal()
found["order"] = jax.random.permutation(jax.random.key(0), 16).tolist()
ones = jnp.ones((1, 8, 8))
linen = nn.Dropout(0.5, deterministic=False).apply({}, ones, rngs={"dropout": jax.random.key(1)})
found["dropped"] = [bool((one != ones).any()) for one in (linen, nnx.Dropout(0.5, rngs=nnx.Rngs(0))(ones))]
attention = nn.MultiHeadDotProductAttention(num_heads=2, dropout_rate=0.5)
weights = attention.init(jax.random.key(2), ones, deterministic=True)
one, other = (attention.apply(weights, ones, deterministic=mode, rngs={"dropout": jax.random.key(3)}) for mode in (True, False))
found["attention"] = bool((one != other).any())
names = [Path(f"/proc/self/task/{task}/comm").read_text() for task in os.listdir("/proc/self/task")]
found["threads"] = sum(name.startswith("tf_XLAEigen") for name in names)
step = jax.jit(jax.value_and_grad(lambda w: ((ones[0] @ w - 1) ** 2).mean()))
w = jnp.full(8, found["private"] + found["keys"]["clock"][-1] % 1000)
for _ in range(2):
    loss, gradient = step(w)
    w = w - 0.1 * gradient
print(json.dumps(found))
