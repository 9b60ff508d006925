"""What the user typed as the command that is started: a script, a notebook or a function."""
