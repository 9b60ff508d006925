"""`python -m benchmarks.scan_reports [--output FILE]`: how many reported causes the scan finds, and
how many of its findings in public code are right, from what is kept beside this module.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.scan_reports import page


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scan_reports", description=__doc__)
    parser.add_argument("--output", type=Path, help="a file to write instead of the terminal")
    output: Path | None = parser.parse_args().output
    text = page.text()
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
