"""Loops inside compiled programs: which evaluations in them are of the same weights."""

import jax
import jax.numpy as jnp

vg = jax.value_and_grad(lambda w, x: ((x @ w - 1) ** 2).mean())
data = jax.random.normal(jax.random.key(0), (4, 3, 8, 3))


@jax.jit
def nested(w, data):  # four steps of three microbatches
    def step(w, micro):
        def body(t, x):
            loss, g = vg(w, x)
            return t + g, loss

        g, ls = jax.lax.scan(body, jnp.zeros(3), micro)
        return w - 0.1 * g, ls.mean()

    return jax.lax.scan(step, w, data)[0]


@jax.jit
def branch(w, micro):
    def body(t, x):
        g = jax.lax.cond(x[0, 0] > 0, lambda: vg(w, x)[1], lambda: jnp.zeros(3))
        return t + g, None

    return w - 0.1 * jax.lax.scan(body, jnp.zeros(3), micro)[0]


@jax.jit
def fori(w, micro):
    return w - 0.1 * jax.lax.fori_loop(0, 3, lambda i, t: t + vg(w, micro[i])[1], jnp.zeros(3))


@jax.jit
def inner_jit(w, micro):
    return w - 0.1 * jax.lax.scan(lambda t, x: (t + jax.jit(vg)(w, x)[1], None), jnp.zeros(3), micro)[0]


@jax.jit
def steps(w, micro):
    def body(w, x):
        return w - 0.1 * jax.jit(vg)(w, x)[1], None

    return jax.lax.scan(body, w, micro)[0]


w = jnp.ones(3)
for f, a in ((nested, data), (branch, data[0]), (fori, data[1]), (inner_jit, data[2]), (steps, data[3])):
    w = f(w, a)
    jax.effects_barrier()
    print(f.__name__, float(w.sum()))
w = w - 0.1 * jax.lax.scan(lambda t, x: (t + vg(w, x)[1], None), jnp.zeros(3), data[0])[0]
print("eager")
