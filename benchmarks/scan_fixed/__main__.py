"""`python -m benchmarks.scan_fixed [--write FILE] [--only CODE ...]`: runs every program before and
after `scan --fix`, and prints the table. Exit 1 where a fixed one is not reproducible.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scan_fixed.programs import NOT_RUN, Program, codes, program
from benchmarks.scan_fixed.running import Said, said

HEAD = """\
# What the scan fixes is reproducible

Made by `python -m benchmarks.scan_fixed --write benchmarks/scan_fixed.md`. The wrong example of
each rule that `scan --fix` fixes, with a training behind it (`benchmarks/scan_fixed/tails.txt`), is
checked by `reprocheck run` as it is and after `scan --fix`, which leaves no finding in it.
A program may agree as it is: files were listed in one order, cuDNN needs a GPU, and two runs may
order three strings alike. `text` is a hash of both texts; a test compares it with those of today.

| rule | as it is | causes | after `--fix` | text |
|---|---|---|---|---|"""
VERDICTS = {"reproducible": "REPRODUCIBLE", "not_reproducible": "not reproducible"}


def main() -> int:
    """Runs, prints or writes the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scan_fixed", description=__doc__)
    parser.add_argument("--write", type=Path, help="a file to write instead of the terminal")
    parser.add_argument("--only", nargs="*", help="these rules alone")
    arguments = parser.parse_args()
    output: Path | None = arguments.write and arguments.write.absolute()
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="fixed-") as scratch:
        os.chdir(scratch)
        rows = list(_rows(arguments.only or codes(), Path(scratch)))
        os.chdir(here)
    text = "\n".join([HEAD, *(row for row, _ in rows), *_not_run()]) + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
    return int(not all(right for _, right in rows))


def _rows(wanted: list[str], folder: Path) -> Iterator[tuple[str, bool]]:
    for code in wanted:
        one = program(code)
        before = said(one, one.wrong, folder / code / "wrong")
        after = said(one, one.fixed, folder / code / "fixed")
        right = after.verdict == "reproducible" and after.bitwise and not one.left
        row = _row(one, before, after)
        sys.stderr.write(f"{row}\n")
        yield row, right


def _row(one: Program, before: Said, after: Said) -> str:
    return (
        f"| {one.code} | {_verdict(before)} | {', '.join(before.causes)} | {_verdict(after)}"
        f" | {one.digest} |"
    )


def _verdict(one: Said) -> str:
    text = VERDICTS.get(one.verdict, one.verdict)
    if one.bitwise:
        text += ", bit for bit"
    return text


def _not_run() -> Iterator[str]:
    yield ""
    for code, why in NOT_RUN.items():
        yield f"{code} is not run: {why}."


if __name__ == "__main__":
    raise SystemExit(main())
