"""Every way to differentiate with JAX, one after the other: jit, scan, pmap over four devices, vmap, a gradient of a gradient."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
from functools import partial

import jax
import jax.numpy as jnp

inputs = jax.random.normal(jax.random.key(0), (4, 8, 3))


def square(weights, x):
    return ((x @ weights - 1) ** 2).mean()


@jax.jit
def step(weights):
    loss, gradient = jax.value_and_grad(square)(weights, inputs[0])
    return weights - 0.1 * gradient, loss


@partial(jax.pmap, axis_name="devices", in_axes=(None, 0), out_axes=None)
def spread(weights, x):
    loss, gradient = jax.value_and_grad(square)(weights, x)
    return weights - 0.1 * jax.lax.pmean(gradient, "devices"), jax.lax.pmean(loss, "devices")


weights = jnp.ones(3)
for _ in range(2):
    weights, loss = step(weights)
    print("jit", float(loss).hex())
weights, losses = jax.lax.scan(lambda held, _: step(held), weights, None, length=2)
print("scan", [float(loss).hex() for loss in losses])
for _ in range(2):
    weights, loss = spread(weights, inputs)
    print("pmap", float(loss).hex())
gradients = jax.vmap(jax.grad(square), in_axes=(None, 0))(weights, inputs)
print("vmap", [float(number).hex() for number in gradients.mean(0)])
print("nested", [float(number).hex() for number in jax.grad(lambda w: jnp.sum(jax.grad(square)(w, inputs[0]) ** 2))(weights)])
