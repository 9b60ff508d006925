"""Lead from an entry point or a folder to an explained check.

The runs, the verdict, the deeper runs, the causes.
"""
