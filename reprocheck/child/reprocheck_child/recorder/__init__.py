"""Turns what hooks report in one process into the lines of a trace file."""
