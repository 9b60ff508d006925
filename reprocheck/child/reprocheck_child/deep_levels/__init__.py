"""Levels `module` and `op`: facts with their tensors as hashes and sketches."""
