"""The adapters of frameworks, a folder each, loaded when the script imports the framework.

`registry` has a record for each. `losses` is the adapter. It loads `deep` where a run records more
than its losses. `controls`, `environment` and `seeding` are what the record says.
"""
