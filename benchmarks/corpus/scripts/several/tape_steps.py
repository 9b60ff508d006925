"""TensorFlow with a tape: variables drawn without a seed, rows shuffled by Python."""

import random

import numpy as np
import tensorflow as tf

grid = np.sin(np.arange(240, dtype=np.float32)).reshape(40, 6)
target = grid.sum(axis=1, keepdims=True)
kernel = tf.Variable(tf.random.normal([6, 1]))
bias = tf.Variable(tf.zeros([1]))
optimizer = tf.keras.optimizers.SGD(0.05)
noise = np.random.default_rng()
rows = list(range(40))
random.shuffle(rows)
for step in range(5):
    chosen = rows[step * 8 : step * 8 + 8]
    inputs = tf.constant(grid[chosen] + noise.normal(scale=0.05, size=(8, 6)).astype(np.float32))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((inputs @ kernel + bias - target[chosen]) ** 2)
    gradients = tape.gradient(loss, [kernel, bias])
    optimizer.apply_gradients(zip(gradients, [kernel, bias], strict=True))
    print(step, float(loss))
