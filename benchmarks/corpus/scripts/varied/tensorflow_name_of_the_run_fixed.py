"""The fix of tensorflow_name_of_the_run.py: the seed is a number."""

import time

import tensorflow as tf

print(time.strftime("run-%Y%m%d", time.gmtime()))
value = tf.random.stateless_normal((), [7, 0])
inputs = tf.reshape(tf.linspace(-1.0, 1.0, 24), (6, 4))
weights = tf.Variable(tf.zeros((4, 1)))
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((inputs @ weights - value) ** 2)
    weights.assign_sub(0.05 * tape.gradient(loss, weights))
