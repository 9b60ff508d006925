"""Loads the whole model; a `.keras` file does not hold where the generator of dropout stands."""
from pathlib import Path

import keras
import numpy as np

MODEL = Path("last.keras")
EPOCH = Path("epoch.txt")


def build():
    model = keras.Sequential(
        [
            keras.Input((8,)),
            keras.layers.Dense(16, "tanh"),
            keras.layers.Dropout(0.3, seed=3),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.SGD(1e-2), "mse")
    return model


class Keeps(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.save(MODEL)
        EPOCH.write_text(str(epoch + 1))


def main():
    keras.utils.set_random_seed(4)
    x = np.random.default_rng(0).normal(size=(48, 8)).astype("float32")
    y = x.sum(1, keepdims=True)
    model, first = build(), 0
    if EPOCH.exists():
        first = int(EPOCH.read_text())
        model = keras.saving.load_model(MODEL)
    order = np.random.default_rng(7).permutation(48)
    model.fit(
        x[order], y[order], batch_size=8, epochs=4, initial_epoch=first, shuffle=False, verbose=0,
        callbacks=[Keeps()],
    )


main()
