"""Frameworks: a folder each, named by its record in `registry`; loaded when the script imports
the framework.

`losses` is the adapter. It loads `deep` where a run records more than its losses. `controls`,
`environment` and `seeding` are what the record says.
"""
