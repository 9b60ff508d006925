"""Keras: `fit` with dropout, batch norm and a schedule, everything seeded by one line:
REPRODUCIBLE, bit for bit.

reprocheck run examples/keras/train.py
"""

import keras
import numpy as np

SAMPLES = 64


def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Points around four centres; the class is which."""
    labels = np.arange(SAMPLES) % 4
    centres = np.array([[2, 2], [2, -2], [-2, 2], [-2, -2]], dtype="float32")
    return centres[labels] + np.random.randn(SAMPLES, 2).astype("float32"), labels


keras.utils.set_random_seed(1234)  # Python, NumPy and the backend, before anything draws
points, labels = blobs()
model = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(16, "relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(4, "softmax"),
    ]
)
model.compile(
    keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(0.05, 12)),
    "sparse_categorical_crossentropy",
)
model.fit(points, labels, batch_size=SAMPLES, epochs=12, verbose=0)  # one batch an epoch, shuffled
