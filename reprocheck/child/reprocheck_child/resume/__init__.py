"""What a check of a resume needs in the process: checkpoints, boundaries, and the values there."""
