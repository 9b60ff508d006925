"""Planted, after bytedance/jaqmc#29: the workflow takes its seed 0 for a missing one, and makes the key of the time."""

import time
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import optax


@dataclass
class Workflow:
    seed: int | None = 0
    walkers: int = 64
    iterations: int = 6
    optimizer: optax.GradientTransformation = field(default_factory=lambda: optax.adam(0.05))

    def key(self) -> jax.Array:
        return jax.random.key(self.seed or int(1e6 * time.time()))


def log_psi(params, x):
    return jnp.tanh(x[..., None] * params["w"] + params["b"]) @ params["out"] - 0.5 * x**2


def local_energy(params, x):
    slope = jax.grad(lambda place: log_psi(params, place))
    return -0.5 * (jax.grad(slope)(x) + slope(x) ** 2) + 0.5 * x**2 + x**4


@jax.jit
def loss_of(params, x):
    return jax.vmap(local_energy, (None, 0))(params, x).mean()


def train(workflow: Workflow) -> None:
    key, initial = jax.random.split(workflow.key())
    params = dict(zip(("w", "b", "out"), jax.random.normal(initial, (3, 8)), strict=True))
    state = workflow.optimizer.init(params)
    for _ in range(workflow.iterations):
        key, draw = jax.random.split(key)
        walkers = jax.random.normal(draw, (workflow.walkers,))
        energy, gradient = jax.value_and_grad(loss_of)(params, walkers)
        updates, state = workflow.optimizer.update(gradient, state)
        params = optax.apply_updates(params, updates)
        print(f"{energy:.4f}")


if __name__ == "__main__":
    train(Workflow(seed=0))
