"""The recorder, which runs inside the user's processes: this folder is put on their PYTHONPATH.

Imports nothing of reprocheck.
"""
