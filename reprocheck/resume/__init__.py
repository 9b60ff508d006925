"""Whether stopping and going on gives what never stopping gives: `reprocheck resume`.

The oracle is the run that wrote the checkpoint, going on. `docs/reference/resume.md` says why.
"""
