"""The adapter of PyTorch and of every backend that plugs into it.

It has losses, the deeper levels and controls.
"""
