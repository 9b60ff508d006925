"""The patch of a training that does not save what it needs to go on, or does not load it: made from
its source, tried in runs of its own.
"""
