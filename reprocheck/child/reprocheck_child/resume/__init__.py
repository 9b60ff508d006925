"""The part of a check of a resume that runs in the process: checkpoints, boundaries and values."""
