"""Keras: a vocabulary in a set, weights without a seed, noise by NumPy's new generator."""

import keras
import numpy as np

SENTENCES = ["a red fox", "a grey wolf", "the red wolf", "the grey fox"] * 8
LABELS = np.array([0, 1, 1, 0] * 8)


def encoded() -> np.ndarray:
    vocabulary = {word for sentence in SENTENCES for word in sentence.split()}
    numbers = {word: number for number, word in enumerate(vocabulary)}
    return np.array([[numbers[word] for word in sentence.split()] for sentence in SENTENCES])


def main() -> None:
    rows = encoded()
    jitter = np.random.default_rng().normal(scale=0.1, size=(32, 3, 4)).astype("float32")
    words = keras.layers.Input((3,), dtype="int32")
    noise = keras.layers.Input((3, 4))
    mixed = keras.layers.Add()([keras.layers.Embedding(8, 4)(words), noise])
    output = keras.layers.Dense(2)(keras.layers.Flatten()(mixed))
    model = keras.Model([words, noise], output)
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit([rows, jitter], LABELS, batch_size=8, epochs=2, shuffle=False, verbose=0)


main()
