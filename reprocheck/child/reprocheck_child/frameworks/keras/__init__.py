"""Keras 3 on every backend: what its own loops say, the deeper levels, controls."""
