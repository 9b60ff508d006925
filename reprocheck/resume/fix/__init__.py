"""Patch a training that does not save what it needs to go on, or does not load it.

The patch is made from its source, and tried in runs of its own.
"""
