"""`fit` and `train_on_batch` on the backend that is named."""

import os
import sys

os.environ["KERAS_BACKEND"] = sys.argv[1]
import keras
import numpy as np

keras.utils.set_random_seed(1)
inputs = np.random.randn(96, 5).astype("float32")
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.3), keras.layers.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
print(model.fit(inputs, inputs.sum(1), batch_size=16, epochs=1, verbose=0).history)
print(float(model.train_on_batch(inputs[:16], inputs.sum(1)[:16])[0]).hex())
