"""Messages between the process that calls `reprocheck.check(function)` and its runs."""

from __future__ import annotations

REFUSED = "refused.json"
"""The file in the trace folder that says what kept the function from being called."""
HOME = "<home>"
"""Stands for the home folder in the file that says what is called."""
INSIDE = "reprocheck.check was called in a process that reprocheck itself had started."
GUARD = (
    'Put the call below `if __name__ == "__main__":`, so that it is not made again when a run'
    " imports the script; a script that calls reprocheck.check itself is started with python, not"
    " with `reprocheck run`."
)
"""What is said where a run comes to `reprocheck.check` again, and what to do."""
