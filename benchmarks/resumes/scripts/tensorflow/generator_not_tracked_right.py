"""Draws noise from the global generator, and tracks it."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(48, 8)).astype("float32")
y = x.sum(1, keepdims=True)
tf.random.set_global_generator(tf.random.Generator.from_seed(5))
noise = tf.random.get_global_generator()
weight = tf.Variable(tf.zeros((8, 1)), name="weight")
epochs = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(weight=weight, epochs=epochs, noise=noise)
manager = tf.train.CheckpointManager(checkpoint, "checkpoints", max_to_keep=2)
if manager.latest_checkpoint:
    checkpoint.restore(manager.latest_checkpoint)

data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
for _ in range(int(epochs), 4):
    for inputs, targets in data:
        inputs = inputs + 0.3 * noise.normal(tf.shape(inputs))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((inputs @ weight - targets) ** 2)
        weight.assign_sub(0.05 * tape.gradient(loss, weight))
    epochs.assign_add(1)
    manager.save()
    print(float(loss))
