"""Faults of released libraries on a resume: the release before the fix, and the one with it."""
