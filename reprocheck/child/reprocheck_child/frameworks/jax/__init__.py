"""The adapter of JAX: losses, deeper levels at the boundary of compiled programs, controls."""
