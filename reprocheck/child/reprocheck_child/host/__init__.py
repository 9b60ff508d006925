"""The shared part of the framework adapters that read tensors by copying them to the host."""
