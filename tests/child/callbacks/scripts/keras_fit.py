"""Keras fit over two epochs with the callback."""

import keras
import numpy as np

import reprocheck

keras.utils.set_random_seed(0)
inputs = np.sin(np.arange(64, dtype=np.float32)).reshape(16, 4)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(inputs, inputs.sum(axis=1), batch_size=4, epochs=2, verbose=0, callbacks=[reprocheck.KerasCallback()])
