"""Say why the runs differ: `cause.causes_of(check, folder)`.

Each cause comes with its evidence, its line and its fix.
"""
