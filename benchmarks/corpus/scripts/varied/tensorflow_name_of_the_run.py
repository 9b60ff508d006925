"""Planted: the checksum of the name of the run, which holds the date, is the seed."""

import time
import zlib

import tensorflow as tf

seed = zlib.crc32(time.strftime("run-%Y%m%d", time.gmtime()).encode())
value = tf.random.stateless_normal((), [seed, 0])
inputs = tf.reshape(tf.linspace(-1.0, 1.0, 24), (6, 4))
weights = tf.Variable(tf.zeros((4, 1)))
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((inputs @ weights - value) ** 2)
    weights.assign_sub(0.05 * tape.gradient(loss, weights))
