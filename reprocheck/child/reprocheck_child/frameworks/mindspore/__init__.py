"""The adapter of MindSpore: losses, the deeper levels, controls."""
