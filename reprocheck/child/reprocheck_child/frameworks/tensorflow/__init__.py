"""TensorFlow: losses at level loss, the deeper levels, controls."""
