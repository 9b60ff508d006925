"""Why the runs differ: `cause.causes_of(check, folder)`, each cause with its evidence, its line and
its fix.
"""
