"""The edit engine: texts as concrete trees, changes of their nodes, and differences of files.

All that changes source of the user's goes through it: `patches` for findings of the scan,
`reprocheck.resume.fix` for what a resume loses.
"""
