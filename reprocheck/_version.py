"""The version of the package.

Everything reads it here, so that no part imports the package that stands above it.
"""

__version__ = "0.1.0"
