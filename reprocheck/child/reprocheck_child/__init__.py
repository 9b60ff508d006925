"""The recorder that runs inside the user's process.

Standard library only, Python 3.9 and later.
"""
