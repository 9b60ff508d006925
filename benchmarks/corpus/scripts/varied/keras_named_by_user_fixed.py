"""The fix of keras_named_by_user.py: the table is not asked."""

import os

import keras
import numpy as np

print("of", os.environ.get("USER", ""))
value = 1.0
keras.utils.set_random_seed(0)
inputs = np.linspace(-1, 1, 96, dtype=np.float32).reshape(24, 4)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse")
model.fit(inputs, np.full((24, 1), value, np.float32), batch_size=6, shuffle=False, verbose=0)
