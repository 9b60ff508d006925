"""TensorFlow: losses and controls."""
