"""`python -m tests.fuzz SECONDS [TARGET...]`: inputs that atheris makes, for so many seconds, all
targets in turn. Needs atheris, which `.ci/fuzz` installs beside the environment.

Exit 1 where one raised what it should not, was slow, or took too much memory: the input is kept in
`.fuzz/TARGET`, and `python -m tests.fuzz --again TARGET FILE` runs it again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

NAMES = (
    "trace", "record", "resume", "zip", "curves", "baselines", "foreign", "settings", "cells",
    "text",
)  # fmt: skip
FOLDER = Path(".fuzz")
LIMITS = ("-rss_limit_mb=2500", "-timeout=20", "-max_len=20000", "-verbosity=0")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("seconds", type=int, nargs="?", default=60)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--again", nargs=2, metavar=("TARGET", "FILE"))
    given = parser.parse_args()
    if given.again:
        from tests.fuzz.targets import run

        run(given.again[0], Path(given.again[1]).read_bytes())
        return 0
    if given.one:
        _fuzz(given.targets[0], given.seconds)
    names = given.targets or NAMES
    share = max(given.seconds // len(names), 1)
    return max([_in_a_process(name, share) for name in names])


def _in_a_process(name: str, seconds: int) -> int:
    began = time.monotonic()
    command = [sys.executable, "-m", "tests.fuzz", "--one", str(seconds), name]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    tried = [line for line in done.stderr.splitlines() if "number_of_executed_units" in line]
    inputs = int(tried[0].split()[-1]) if tried else 0
    print(f"{name}: {inputs:,} inputs in {time.monotonic() - began:.0f} s", flush=True)
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n")
    return min(done.returncode, 1)


def _fuzz(name: str, seconds: int) -> None:
    """Does not return."""
    import atheris  # type: ignore[import-not-found]

    # what a branch compares is seen in modules that are imported under it
    with atheris.instrument_imports(include=["reprocheck"]):
        from tests.fuzz.targets import run, seeds

    corpus = FOLDER / name
    seeds(name, corpus)
    options = [f"-max_total_time={seconds}", f"-artifact_prefix={corpus}/", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *LIMITS, *options, str(corpus)], lambda data: run(name, data))
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
