"""Trains with PyTorch beside an imported TensorFlow; then TensorFlow differentiates."""

import tensorflow as tf
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(4):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
weight = tf.Variable(1.0)
with tf.GradientTape() as tape:
    loss = weight * weight
tape.gradient(loss, weight)
