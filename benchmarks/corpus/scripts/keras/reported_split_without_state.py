"""Planted, after Niketkumardheeryan/ML-CaPsule#1575: every initializer has a seed, and train_test_split() has no random_state."""

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def load(test_size: float):
    samples, labels = load_wine(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(samples, labels, test_size=test_size)
    scaler = StandardScaler().fit(x_train)
    return scaler.transform(x_train), scaler.transform(x_test), y_train, y_test


def build(features: int, classes: int) -> keras.Model:
    start = [keras.initializers.GlorotUniform(seed=seed) for seed in (1, 2)]
    model = keras.Sequential(
        [
            keras.Input((features,)),
            layers.Dense(16, activation="relu", kernel_initializer=start[0]),
            layers.Dense(classes, activation="softmax", kernel_initializer=start[1]),
        ]
    )
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


if __name__ == "__main__":
    x_train, x_test, y_train, y_test = load(test_size=0.2)
    network = build(x_train.shape[1], len(np.unique(y_train)))
    network.fit(x_train, y_train, epochs=2, batch_size=32, shuffle=False, verbose=0)
    print(network.evaluate(x_test, y_test, verbose=0))
