#!/bin/sh
# Planted: the number of this shell's process becomes the seed of the training.
export RUN_SEED=$$
exec python "$(dirname "$0")/seed_from_environment.py"
