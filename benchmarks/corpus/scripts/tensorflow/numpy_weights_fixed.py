"""The fix of numpy_weights: numpy draws the initial weights from a seed; the step is a compiled function."""

import numpy as np
import tensorflow as tf

np.random.seed(0)
inputs = tf.sin(tf.reshape(tf.range(64.0), (16, 4)))
targets = tf.reduce_sum(inputs, axis=1, keepdims=True)
weights = tf.Variable(np.random.randn(4, 1).astype(np.float32), name="projection")
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((inputs @ weights - targets) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


for _ in range(6):
    step()
