"""Saves weights and data in every way of Keras and TensorFlow, and reads them again."""

import h5py
import keras
import numpy as np
import safetensors.numpy
import tensorflow as tf

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
model.save("model.keras")
model.save_weights("model.weights.h5")
tf.saved_model.save(model, "saved")
tf.train.Checkpoint(model=model).write("checkpoint")
with tf.io.TFRecordWriter("records.tfrecord") as writer:
    writer.write(b"one")
safetensors.numpy.save_file({"a": np.zeros(2)}, "arrays.safetensors")
with h5py.File("rows.h5", "w") as rows:
    rows["a"] = np.zeros(2)


def managing():
    return tf.train.CheckpointManager(tf.train.Checkpoint(model=model), "managed/deep", max_to_keep=1)


manager = managing()
for _ in range(2):
    manager.save()
tf.train.Checkpoint(model=model).save(
    "sharded/part",
    options=tf.train.CheckpointOptions(experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy(max_shard_size=24)),
)
log = tf.summary.create_file_writer("logs/one")
with log.as_default():
    tf.summary.write("loss", 1.0, step=1)
tf.io.gfile.makedirs("made/by/tensorflow")
tf.io.gfile.mkdir("made/alone")
tf.io.gfile.copy("arrays.safetensors", "made/by/copy")
tf.io.gfile.rename("made/by/copy", "made/by/move")
tf.io.gfile.copy("arrays.safetensors", "removed")
tf.io.gfile.remove("removed")
tf.io.gfile.makedirs("cleared/out")
tf.io.gfile.rmtree("cleared")
tf.io.write_file("filled/by/an-operator", "one")
numbers = tf.data.Dataset.range(3)
numbers.save("kept/numbers")
print(len(list(numbers.cache("cached"))))
for _ in range(2):
    print(len(list(numbers.snapshot("frozen"))))

keras.models.load_model("model.keras")
model.load_weights("model.weights.h5")
tf.saved_model.load("saved")
tf.train.Checkpoint(model=model).read("checkpoint")
print(len(list(tf.data.TFRecordDataset("records.tfrecord"))))
print(len(list(numbers.cache("cached"))))
managing().restore_or_initialize()
