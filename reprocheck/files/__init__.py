"""How files are written in one step and read within limits."""
