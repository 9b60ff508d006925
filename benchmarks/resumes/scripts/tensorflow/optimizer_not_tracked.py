"""Tracks the model and the epoch in its checkpoint, and not the optimizer."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(48, 8)).astype("float32")
y = x.sum(1, keepdims=True)
tf.keras.utils.set_random_seed(3)
model = tf.keras.Sequential(
    [tf.keras.Input((8,)), tf.keras.layers.Dense(16, "tanh"), tf.keras.layers.Dense(1)]
)
optimizer = tf.keras.optimizers.Adam(1e-2)
epochs = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(model=model, epochs=epochs)
manager = tf.train.CheckpointManager(checkpoint, "checkpoints", max_to_keep=2)
if manager.latest_checkpoint:
    checkpoint.restore(manager.latest_checkpoint)


@tf.function
def step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(inputs, training=True) - targets) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
for _ in range(int(epochs), 4):
    for inputs, targets in data:
        loss = step(inputs, targets)
    epochs.assign_add(1)
    manager.save()
    print(float(loss))
