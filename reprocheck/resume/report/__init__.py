"""A check of a resume as reports: `ResumeCheck` -> bytes. No clock, no environment, no network.

`formats` has the table of them; `rows` is what page, Markdown and terminal have in common.
"""
