"""Planted: the learning rate comes from the clock."""

import time

import tensorflow as tf

inputs = tf.cos(tf.reshape(tf.range(48.0), (16, 3)))
targets = 2 * tf.reduce_sum(inputs, axis=1, keepdims=True) + 1
weights = tf.Variable(tf.ones((3, 1)), name="weights")
optimizer = tf.keras.optimizers.SGD(0.05 + time.time_ns() % 997 / 2000)
for _ in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((inputs @ weights - targets) ** 2)
    optimizer.apply([tape.gradient(loss, weights)], [weights])
