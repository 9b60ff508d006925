"""How causes are fixed: the code or the command of a cause, and the files that a patch changes.

All that writes the user's source is here: `edits` changes texts, `patches` knows what fixes a
finding of the scan, `seeds` how each thing is seeded.
"""
