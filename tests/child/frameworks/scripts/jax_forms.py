"""Every way to differentiate with JAX: jit, scan, pmap over four devices, vmap, a gradient of a gradient, shard_map, methods, by hand."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

inputs = jax.random.normal(jax.random.key(0), (4, 8, 3))
rate = 0.1


def square(weights, x):
    return ((x @ weights - 1) ** 2).mean()


@jax.jit
def step(weights):
    loss, gradient = jax.value_and_grad(square)(weights, inputs[0])
    return weights - rate * gradient, loss


@partial(jax.pmap, axis_name="devices", in_axes=(None, 0), out_axes=None)
def spread(weights, x):
    loss, gradient = jax.value_and_grad(square)(weights, x)
    return weights - 0.1 * jax.lax.pmean(gradient, "devices"), jax.lax.pmean(loss, "devices")


@partial(jax.jit, donate_argnums=0)
@partial(
    jax.shard_map,
    mesh=Mesh(np.array(jax.devices()), ("devices",)),
    in_specs=(PartitionSpec(), PartitionSpec("devices")),
    out_specs=(PartitionSpec(), PartitionSpec()),
)
def sharded(weights, x):
    loss, gradient = jax.value_and_grad(square)(weights, x[0])
    return weights - 0.1 * jax.lax.pmean(gradient, "devices"), jax.lax.pmean(loss, "devices")


class Trainer:
    """A step that is a method, compiled with static arguments."""

    @partial(jax.jit, static_argnums=0, static_argnames="scale")
    def step(self, weights, x, *, scale):
        loss, gradient = jax.value_and_grad(square)(weights["w"], x)
        return {"w": weights["w"] - scale * gradient}, loss


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
for _ in range(2):
    weights, loss = sharded(weights, inputs)
    print("shard_map", float(loss).hex())
trainer, held = Trainer(), {"w": weights}
for _ in range(2):
    held, loss = trainer.step(held, inputs[1], scale=0.1)
    print("method", float(loss).hex())
value_and_gradient = jax.jit(jax.value_and_grad(square))
for _ in range(2):
    loss, gradient = value_and_gradient(weights, inputs[2])
    weights = weights - 0.1 * gradient
    print("outside", float(loss).hex())
for _ in range(2):
    loss, gradient = jax.value_and_grad(square)(weights, inputs[3])
    weights = weights - 0.1 * gradient
    print("by hand", float(loss).hex())
import jax_loops  # noqa: E402, F401 - it trains, too

print(Trainer.step.lower(trainer, held, inputs[1], scale=0.1).compile() is not None, repr(step).startswith("<PjitFunction"))
