"""`BackupAndRestore` puts back model and optimizer; the callback of the rate counts from zero."""
import keras
import numpy as np


class Decays(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.batches = 0

    def on_train_batch_begin(self, batch, logs=None):
        self.model.optimizer.learning_rate = 1e-2 / (1 + 0.1 * self.batches)
        self.batches += 1


def main():
    keras.utils.set_random_seed(4)
    x = np.random.default_rng(0).normal(size=(48, 8)).astype("float32")
    model = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.Adam(1e-2), "mse")
    backup = keras.callbacks.BackupAndRestore("backup", delete_checkpoint=False)
    model.fit(
        x, x.sum(1, keepdims=True), batch_size=8, epochs=4, shuffle=False, verbose=0,
        callbacks=[backup, Decays()],
    )


main()
