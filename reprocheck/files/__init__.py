"""How files are written in one step and read within limits; source code and notebooks as text."""
