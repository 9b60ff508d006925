"""The adapter of TensorFlow: losses, the deeper levels, controls."""
