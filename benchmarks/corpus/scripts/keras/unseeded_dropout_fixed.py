"""The fix of unseeded_dropout: the Dropout layer has a seed."""

import keras
import numpy as np

inputs = np.cos(np.arange(32 * 6, dtype=np.float32)).reshape(32, 6)
targets = inputs.sum(axis=1, keepdims=True)
hidden = keras.layers.Dense(16, activation="relu", kernel_initializer=keras.initializers.GlorotUniform(seed=1))
output = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seed=2))
model = keras.Sequential([keras.Input((6,)), hidden, keras.layers.Dropout(0.5, seed=3), output])
model.compile(optimizer=keras.optimizers.SGD(1e-2), loss="mse")
for _step in range(6):
    model.train_on_batch(4 * inputs, 4 * targets)
