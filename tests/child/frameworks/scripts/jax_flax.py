"""Flax, linen and nnx, with optax: compiled steps with donated states, dropout and changing numbers, and steps that are not compiled."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.training.train_state import TrainState

random = np.random.RandomState(0)
np.random.seed(7)
inputs = random.randn(32, 6).astype("float32")
targets = np.tanh(inputs.sum(1, keepdims=True))


class Net(nn.Module):
    """Two layers and a dropout between."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.Dropout(0.5, deterministic=False)(nn.relu(nn.Dense(16)(x))))


class Module(nnx.Module):
    """The same with a stream of keys of its own."""

    def __init__(self, rngs):
        self.first = nnx.Linear(6, 8, rngs=rngs)
        self.drop = nnx.Dropout(0.2, rngs=rngs)
        self.last = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.last(self.drop(nnx.relu(self.first(x))))


@partial(jax.jit, donate_argnums=0)
def train_step(state, x, y, key):
    def loss_of(params):
        out = state.apply_fn({"params": params}, x, rngs={"dropout": jax.random.fold_in(key, state.step)})
        return ((out - y) ** 2).mean(), out

    (loss, out), gradients = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    return state.apply_gradients(grads=gradients), {"loss": loss, "out": out}


@nnx.jit
def module_step(module, optimizer, x, y):
    loss, gradients = nnx.value_and_grad(lambda module: ((module(x) - y) ** 2).mean())(module)
    optimizer.update(module, gradients)
    return loss


net = Net()
params = net.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, inputs[:1])["params"]
tx = optax.inject_hyperparams(optax.adam)(optax.cosine_decay_schedule(0.01, 10))
state = TrainState.create(apply_fn=net.apply, params=params, tx=tx)
dropout_key = jax.random.key(2)
for _ in range(3):
    chosen = np.random.permutation(32)[:16]
    state, metrics = train_step(state, inputs[chosen], targets[chosen], dropout_key)
    print("linen", float(metrics["loss"]).hex(), float(metrics["out"].sum()).hex())
module = Module(nnx.Rngs(0, dropout=1))
optimizer = nnx.Optimizer(module, optax.sgd(0.01), wrt=nnx.Param)
for _ in range(2):
    print("nnx", float(module_step(module, optimizer, inputs, targets)).hex())
weights = {"w": jnp.ones((6, 1)), "b": jnp.zeros(1)}
tx = optax.sgd(0.1, momentum=0.9)
held = tx.init(weights)
for _ in range(2):
    loss, gradients = jax.value_and_grad(lambda weights: ((inputs @ weights["w"] + weights["b"] - targets) ** 2).mean())(weights)
    updates, held = tx.update(gradients, held, weights)
    weights = optax.apply_updates(weights, updates)
    print("optax", float(loss).hex(), float(weights["w"].sum()).hex())
