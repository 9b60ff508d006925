"""JAX: losses at level loss, what a deeper run sees at the boundary of compiled programs,
controls.
"""
