"""PyTorch, and every backend that plugs into it: losses at level loss, the deeper levels,
controls.
"""
