"""Two models without an input shape: a compiled step makes their weights in its first call, by `fit` and by hand."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
inputs = np.linspace(-1, 1, 160, dtype="float32").reshape(32, 5)
targets = inputs.sum(1, keepdims=True)
fitted, stepped = (keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)]) for _ in range(2))

fitted.compile("sgd", "mse")
print(fitted.fit(inputs, targets, batch_size=16, shuffle=False, verbose=0).history)

optimizer = keras.optimizers.SGD(0.01)


@tf.function
def step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((stepped(inputs, training=True) - targets) ** 2)
    gradients = tape.gradient(loss, stepped.trainable_variables)
    optimizer.apply_gradients(zip(gradients, stepped.trainable_variables))
    return loss


for _ in range(2):
    print(float(step(inputs, targets)))
