"""TensorFlow: a loop with `GradientTape` over a shuffled `tf.data` pipeline, seeded: REPRODUCIBLE,
bit for bit.

reprocheck run examples/tensorflow/train.py
"""

import tensorflow as tf

# before anything draws: shuffles and initial values take their seeds from it
tf.random.set_seed(1234)
inputs = tf.random.normal((192, 3))
targets = inputs @ tf.constant([[1.0], [-2.0], [0.5]]) + 0.1 * tf.random.normal((192, 1))
weights = tf.Variable(tf.random.normal((3, 1)), name="weights")
bias = tf.Variable(tf.zeros(1), name="bias")
data = tf.data.Dataset.from_tensor_slices((inputs, targets)).shuffle(192).batch(16)

for batch, wanted in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((batch @ weights + bias - wanted) ** 2)
    for variable, gradient in zip(
        (weights, bias), tape.gradient(loss, (weights, bias)), strict=True
    ):
        variable.assign_sub(0.1 * gradient)
