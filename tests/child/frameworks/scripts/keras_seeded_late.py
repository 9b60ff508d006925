"""Layers take seeds for their weights when they are made; the script seeds afterwards, and the first batch makes the weights."""

import keras
import numpy as np

inputs = np.linspace(-1, 1, 160, dtype="float32").reshape(32, 5)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
keras.utils.set_random_seed(0)
model.compile("sgd", "mse")
model.fit(inputs, inputs.sum(1), batch_size=16, shuffle=False, verbose=0)
