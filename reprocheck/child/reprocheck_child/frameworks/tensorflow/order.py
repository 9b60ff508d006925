"""Records the order in which `fit` takes the samples of arrays.

It is the indices that Keras shuffles, for a whole epoch at once.
"""

import threading
from typing import Any, List

from ...recorder.hooking import guarded, replace

LIMIT = 100_000
"""Indices of an epoch that are written; of more, the first."""


class Order:
    """The shuffled indices of Keras' pipeline, which are recorded with a batch.

    The pipeline is made of arrays, and the batch is the first of its epoch.
    """

    def __init__(self, tensorflow: Any, deep: Any) -> None:
        self.tensorflow = tensorflow
        self.deep = deep
        self.drawn: List[List[int]] = []  # of epochs that have not begun: they are drawn ahead
        self.new = False
        self._making = threading.local()

    def hook(self) -> None:
        """Watch shuffles while Keras makes a pipeline of arrays."""
        # private: `fit` shuffles the indices of arrays itself, by `tf.random.shuffle` inside a
        # pipeline, which no dataset of the script's shows
        from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter

        replace(ArrayDataAdapter, "get_tf_dataset", self._make_pipeline)
        replace(self.tensorflow.random, "shuffle", self._shuffling)

    def _make_pipeline(self, real: Any) -> Any:
        making = self._making

        def get_tf_dataset(adapter: Any) -> Any:
            if adapter._shuffle and adapter._shuffle != "batch":
                self.drawn.clear()  # drawn ahead for a training that is over
            making.now = True
            try:
                return real(adapter)
            finally:
                making.now = False

        return get_tf_dataset

    def _shuffling(self, real: Any) -> Any:
        tf, making = self.tensorflow, self._making

        def shuffle(value: Any, *args: Any, **named: Any) -> Any:
            shuffled = real(value, *args, **named)
            if not getattr(making, "now", False) or tf.executing_eagerly():
                return shuffled
            with tf.control_dependencies([tf.py_function(self._arrived, [shuffled], [])]):
                return tf.identity(shuffled)

        return shuffle

    @guarded("an order of samples")
    def _arrived(self, indices: Any) -> None:
        self.drawn.append(indices.numpy().tolist())

    def before_batch(self) -> None:
        """Record the order, before a batch of `fit` is handed out."""
        if self.new and self.drawn:
            indices = self.drawn.pop(0)
            keys = {"cut": True} if len(indices) > LIMIT else {}
            self.deep.seen("epoch", "fit", idx=indices[:LIMIT], **keys)
        self.new = False
