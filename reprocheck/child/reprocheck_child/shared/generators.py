"""The keys by which a trace names the states of generators."""

from __future__ import annotations

UNMOVED = "unmoved"
"""Stands for the state of a generator that the script has neither seeded nor drawn from."""
