"""From an entry point or a folder to an explained check: the runs, the verdict, the deeper runs,
the causes.
"""
