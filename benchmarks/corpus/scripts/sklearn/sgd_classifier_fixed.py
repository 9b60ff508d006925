"""The fix of sgd_classifier.py: the estimator is given a random_state."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

import reprocheck


def main():
    samples, labels = make_classification(n_samples=400, n_features=10, random_state=0)
    model = SGDClassifier(loss="log_loss", random_state=0)
    for start in range(0, len(samples), 50):
        part = slice(start, start + 50)
        model.partial_fit(samples[part], labels[part], classes=np.unique(labels))
        reprocheck.log_loss(log_loss(labels[part], model.predict_proba(samples[part])))


if __name__ == "__main__":
    main()
