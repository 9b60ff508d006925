"""The recorder of one process: what hooks report becomes the lines of a trace file."""
