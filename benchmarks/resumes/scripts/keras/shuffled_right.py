"""`BackupAndRestore` puts back model and optimizer; Keras draws the order
of each epoch anew, as it did in the run that went on."""
import keras
import numpy as np


def main():
    keras.utils.set_random_seed(4)
    x = np.random.default_rng(0).normal(size=(48, 8)).astype("float32")
    model = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.Adam(1e-2), "mse")
    backup = keras.callbacks.BackupAndRestore("backup", delete_checkpoint=False)
    model.fit(
        x, x.sum(1, keepdims=True), batch_size=8, epochs=4, shuffle=True, verbose=0,
        callbacks=[backup],
    )


main()
