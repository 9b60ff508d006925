"""Every way to train with Keras and TensorFlow, one after the other; each prints its losses as Keras or TensorFlow give them."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
inputs = np.random.randn(64, 5).astype("float32")
targets = inputs.sum(1)
weights = tf.Variable(tf.ones((5, 1)))
by_hand = keras.optimizers.SGD(0.1)


def network():
    return keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.3), keras.layers.Dense(1)])


class OwnStep(keras.Model):
    def __init__(self):
        super().__init__()
        self.network = network()

    def call(self, x, training=False):
        return self.network(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True)[:, 0] - y) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"mine": loss}


def square():
    return tf.reduce_mean((inputs @ weights - 1) ** 2)


def step():
    with tf.GradientTape() as tape:
        loss = square()
    by_hand.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


@tf.function
def loop(count):
    for _ in tf.range(count):
        step()


model = network()
model.compile("adam", "mse", steps_per_execution=2)
print("fit", model.fit(inputs, targets, batch_size=16, epochs=1, verbose=0).history)
model.layers[-1].bias.assign([0.25])
print("train_on_batch", float(model.train_on_batch(inputs[:16], targets[:16])).hex())
for compiled in (False, True):
    own = OwnStep()
    own.compile(keras.optimizers.SGD(0.01), jit_compile=compiled)
    print("own step", compiled, own.fit(inputs, targets, batch_size=32, epochs=1, verbose=0).history)
compiled_step = tf.function(step, jit_compile=True)
print("xla", [float(compiled_step()).hex() for _ in range(2)])
loop(2)
for _ in range(2):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = square()
        penalised = loss + tf.reduce_sum(inner.gradient(loss, weights) ** 2)
    weights.assign_sub(0.01 * outer.gradient(penalised, weights))
print("by hand", [number.hex() for number in weights.numpy().ravel().tolist()])
