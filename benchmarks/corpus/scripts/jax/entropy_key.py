"""Planted: the key is made of bytes of the operating system, so each run draws other initial weights."""

import os

import jax
import jax.numpy as jnp

inputs = jnp.sin(jnp.arange(96.0)).reshape(24, 4)
targets = inputs.sum(axis=1)
parameters = {"kernel": jax.random.normal(jax.random.PRNGKey(int.from_bytes(os.urandom(3), "big")), (4,)), "bias": jnp.zeros(())}


@jax.jit
def step(parameters):
    loss, gradient = jax.value_and_grad(lambda p: ((inputs @ p["kernel"] + p["bias"] - targets) ** 2).mean())(parameters)
    return loss, jax.tree.map(lambda value, slope: value - 0.1 * slope, parameters, gradient)


for _ in range(6):
    loss, parameters = step(parameters)
    float(loss)
