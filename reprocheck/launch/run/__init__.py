"""Runs of a command: their plan, the guard that starts each, and what follows them."""
