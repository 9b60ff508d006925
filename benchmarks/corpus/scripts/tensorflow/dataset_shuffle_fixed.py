"""The fix of dataset_shuffle: the order in which `tf.data` shuffles has a seed."""

import tensorflow as tf

features = tf.reshape(tf.range(96, dtype=tf.float32), (48, 2)) / 32
labels = tf.reduce_sum(features, axis=1, keepdims=True) ** 2
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(48, seed=7).batch(8)
weights = tf.Variable(tf.zeros((2, 1)), name="weights")
for batch, wanted in dataset:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((batch @ weights - wanted) ** 2)
    weights.assign_sub(0.01 * tape.gradient(loss, weights))
