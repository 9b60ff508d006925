"""Weights have seeds; what `fit` shuffles or a layer drops has none."""

import sys

import keras
import numpy as np

inputs = np.linspace(-1, 1, 320, dtype="float32").reshape(64, 5)
first, last = (keras.layers.Dense(width, kernel_initializer=keras.initializers.GlorotUniform(seed=1)) for width in (8, 1))
middle = [keras.layers.Dropout(0.5)] if "drop" in sys.argv else []
model = keras.Sequential([keras.Input((5,)), first, *middle, last])
model.compile("sgd", "mse")
model.fit(inputs, inputs.sum(1), batch_size=16, epochs=1, verbose=0, shuffle="shuffle" in sys.argv)
