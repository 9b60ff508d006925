"""The checks: what each rule of the catalogue looks for.

One file a topic; `tables` holds what they know of libraries.
"""
