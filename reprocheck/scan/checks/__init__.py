"""Find what each rule of the catalogue looks for: the checks, one file for each topic.

The module `tables` holds what the checks know of libraries.
"""
