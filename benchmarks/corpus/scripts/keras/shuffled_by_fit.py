"""Planted: the weights have seeds of their own, and `fit` shuffles by a generator that nobody seeds."""

import keras
import numpy as np

inputs = np.arange(48 * 4, dtype=np.float32).reshape(48, 4) / 64
targets = np.arange(48, dtype=np.float32).reshape(48, 1)
dense = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seed=4), name="line")
model = keras.Sequential([keras.Input((4,)), dense])
model.compile(optimizer=keras.optimizers.SGD(1e-3), loss="mse")
model.fit(inputs, targets, batch_size=8, epochs=2, verbose=0)
