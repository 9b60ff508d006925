"""Keeps the variables of Adam and those of what scales its loss."""
import pickle
from pathlib import Path

import keras
import numpy as np

STATE = Path("state.pkl")


def build():
    model = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(1)]
    )
    adam = keras.optimizers.Adam(1e-2)
    scaling = keras.optimizers.LossScaleOptimizer(adam, dynamic_growth_steps=4)
    model.compile(scaling, "mse")
    scaling.build(model.trainable_variables)
    return model, scaling


class Keeps(keras.callbacks.Callback):
    def __init__(self, optimizer):
        super().__init__()
        self.optimizer = optimizer

    def on_epoch_end(self, epoch, logs=None):
        variables = [np.asarray(one) for one in self.optimizer.variables]
        saved = {"epoch": epoch + 1, "model": self.model.get_weights(), "optimizer": variables}
        STATE.write_bytes(pickle.dumps(saved))


def main():
    keras.utils.set_random_seed(4)
    x = np.random.default_rng(0).normal(size=(48, 8)).astype("float32")
    y = x.sum(1, keepdims=True)
    (model, optimizer), first = build(), 0
    if STATE.exists():
        saved = pickle.loads(STATE.read_bytes())
        first = saved["epoch"]
        model.set_weights(saved["model"])
        for variable, value in zip(optimizer.variables, saved["optimizer"], strict=True):
            variable.assign(value)
    model.fit(
        x, y, batch_size=8, epochs=4, initial_epoch=first, shuffle=False, verbose=0,
        callbacks=[Keeps(optimizer)],
    )


main()
