"""Each epoch is backed up by `BackupAndRestore`, which a new start is given, too."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(40, 8)).astype("float32")
y = x.sum(1, keepdims=True)
model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)]
)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
backup = keras.callbacks.BackupAndRestore("backup")
model.fit(x, y, batch_size=8, epochs=4, shuffle=False, callbacks=[backup], verbose=0)
