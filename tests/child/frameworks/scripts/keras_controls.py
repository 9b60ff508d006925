"""Draws from every source that a control can fix, trains twice, and prints what it got."""

import json

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.config import is_op_determinism_enabled

found = {"deterministic": is_op_determinism_enabled()}
tf.config.threading.set_intra_op_parallelism_threads(3)
found["threads"] = [tf.config.threading.get_intra_op_parallelism_threads(), tf.config.threading.get_inter_op_parallelism_threads()]
found["drawn"] = tf.random.normal((2,)).numpy().tolist()
found["private"] = tf.random.Generator.from_non_deterministic_state().normal((2,)).numpy().tolist()
found["order"] = [int(one) for one in tf.data.Dataset.range(8).shuffle(8).map(lambda one: one + 1, num_parallel_calls=4)]
ones = np.ones((1, 64), "float32")
dropped = (tf.nn.dropout(ones, 0.5), keras.layers.Dropout(0.5)(ones, training=True), keras.layers.GaussianDropout(0.5)(ones, training=True))
found["dropped"] = [bool((one.numpy() != ones).any()) for one in dropped]
steps = np.ones((1, 3, 2), "float32")
attention, recurrent = keras.layers.MultiHeadAttention(1, 2, dropout=0.5), keras.layers.GRU(4, dropout=0.5)
inside = ((attention(steps, steps, training=mode), recurrent(steps, training=mode)) for mode in (True, False))
found["inside"] = [bool((one.numpy() != other.numpy()).any()) for one, other in zip(*inside, strict=True)]
image = np.arange(18, dtype="float32").reshape(1, 3, 3, 2)
found["flipped"] = [bool((keras.layers.RandomFlip()(image, training=True).numpy() == image).all()) for _ in range(4)]


class Halves(keras.utils.PyDataset):
    """Two batches."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return inputs[index * 16 : index * 16 + 16], inputs[index * 16 : index * 16 + 16].sum(1)


inputs = np.linspace(-1, 1, 160, dtype="float32").reshape(32, 5)
halves = Halves(workers=2, use_multiprocessing=False)
found["workers"] = halves.workers
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(4, "relu"), keras.layers.Dropout(0.5), keras.layers.Dense(1)])
model.compile("sgd", "mse")
for data in ((inputs, inputs.sum(1)), (halves,)):
    model.fit(*data, batch_size=8 if len(data) > 1 else None, epochs=1, verbose=0)
found["weights"] = [weight.tolist() for weight in model.get_weights()]
print(json.dumps(found))
