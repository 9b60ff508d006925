"""Runs the command line: `python -m reprocheck` is the same as `reprocheck`."""

from __future__ import annotations

import sys

from reprocheck.cli import main

if __name__ == "__main__":
    sys.exit(main())
