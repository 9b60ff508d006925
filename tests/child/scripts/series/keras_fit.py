"""Keras fits and evaluates; prints what it reported, as the recorder should have it."""

import json
from importlib.util import find_spec

import keras
import numpy as np

reported = []


def report(logs, iteration, step, prefix=""):
    for name, value in logs.items():
        reported.append([prefix + name, "keras", float(value).hex(), iteration, step])


keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
x, y = np.ones((8, 3), "float32"), np.zeros((8, 1), "float32")


class Batches(keras.callbacks.Callback):
    """Reports what it is handed at the end of each batch."""

    batches = 0

    def on_train_batch_end(self, batch, logs=None):
        self.batches += 1
        report(logs, self.batches, None, "batch_end/")


halve = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
history = model.fit(x, y, epochs=2, batch_size=4, validation_data=(x, y), verbose=0, callbacks=[halve, Batches()])
for epoch in range(2):
    report({name: values[epoch] for name, values in history.history.items()}, 2 * (epoch + 1), float(epoch))
report(model.evaluate(x, y, verbose=0, return_dict=True), 4, None, "evaluate/")

if keras.backend.backend() == "tensorflow" and find_spec("tensorboard"):
    import tensorflow as tf

    @tf.function
    def inside(value):
        tf.summary.scalar("traced", value, step=1)
        return value * 2

    with tf.summary.create_file_writer("runs").as_default():
        tf.summary.scalar("eager", tf.constant(0.1), step=7)
        inside(tf.constant(2.0))
    reported.append(["eager", "tensorflow", float(np.float32(0.1)).hex(), 4, 7.0])
print(json.dumps(reported))
