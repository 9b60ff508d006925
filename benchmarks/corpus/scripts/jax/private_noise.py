"""Planted: noise is added to the inputs from a generator of its own, which takes its seed from the operating system."""

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

generator = np.random.default_rng()
inputs = jnp.sin(jnp.arange(60.0)).reshape(20, 3)
targets = inputs.sum(axis=1, keepdims=True)
model = nnx.Linear(3, 1, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)


@nnx.jit
def step(model, optimizer, batch):
    loss, gradient = nnx.value_and_grad(lambda m: ((m(batch) - targets) ** 2).mean())(model)
    optimizer.update(model, gradient)
    return loss


for _ in range(6):
    step(model, optimizer, inputs + generator.normal(size=inputs.shape))
