"""The recorder, which runs inside the processes of the user: this folder is put on their path.

Imports nothing of reprocheck.
"""
