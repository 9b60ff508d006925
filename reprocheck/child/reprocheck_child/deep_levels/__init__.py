"""The levels `module` and `op`: tensors are recorded as hashes and sketches."""
