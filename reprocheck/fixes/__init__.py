"""How causes are fixed: the code or the command of a cause, and the files that a patch changes."""
