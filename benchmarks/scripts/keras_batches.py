"""Batches of `fit` with and without what Keras reports of each being recorded, taking turns; prints
their CPU time.

Runs with the recorder on the path. All else that is recorded of a batch is in both.
"""

import json
import os
import sys
import time

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
import numpy as np
import tensorflow as tf

WARM = 60


class Turns(keras.callbacks.Callback):
    """Called behind the recorder's own callback: a batch ends when that has done its work."""

    def __init__(self, recorded, left_out, kind):
        super().__init__()
        self.ways = (recorded, left_out)
        self.kind = kind
        self.seconds = ([], [])
        self.number = 0
        self.started = 0.0

    def on_train_batch_begin(self, batch, logs=None):
        self.kind.add_all = self.ways[self.number % 2]
        self.started = time.process_time()

    def on_train_batch_end(self, batch, logs=None):
        if self.number >= WARM:
            self.seconds[self.number % 2].append(time.process_time() - self.started)
        self.number += 1


def main() -> None:
    from reprocheck_child.recorder.series import Series

    batches = 2 * int(sys.argv[1]) + WARM
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    wide = [keras.layers.Dense(640, activation="relu") for _ in range(2)]
    model = keras.Sequential([keras.Input((256,)), *wide, keras.layers.Dense(10)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(1e-3, momentum=0.9), loss, metrics=["accuracy"])
    data = np.random.default_rng(0).normal(size=(128, 256)).astype("float32")
    labels = np.zeros((128,), "int64")
    one = tf.data.Dataset.from_tensors((data, labels)).repeat(batches)
    turns = Turns(Series.add_all, lambda *_: None, Series)
    model.fit(one, epochs=1, verbose=0, callbacks=[turns])
    recorded, plain = turns.seconds
    pairs = sorted(more - less for more, less in zip(recorded, plain, strict=True))
    middle = sorted(plain)[len(plain) // 2]
    print(json.dumps({"plain": middle, "more": pairs[len(pairs) // 2], "pairs": len(pairs)}))


main()
