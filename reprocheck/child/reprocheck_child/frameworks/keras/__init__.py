"""The adapter of Keras 3 on every backend: its loops, the deeper levels, controls."""
