"""JAX: losses and controls."""
