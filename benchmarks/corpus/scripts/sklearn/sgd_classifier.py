"""Planted: the estimator has no random_state, so it shuffles each batch with NumPy's generator, which nobody seeds."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

import reprocheck


def main():
    samples, labels = make_classification(n_samples=400, n_features=10, random_state=0)
    model = SGDClassifier(loss="log_loss")
    for start in range(0, len(samples), 50):
        part = slice(start, start + 50)
        model.partial_fit(samples[part], labels[part], classes=np.unique(labels))
        reprocheck.log_loss(log_loss(labels[part], model.predict_proba(samples[part])))


if __name__ == "__main__":
    main()
