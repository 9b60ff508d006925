"""A process that records checks: `python writer.py URL NAME COUNT` prints `opened`, waits for a
line on its input, and prints the number of each check once it is recorded.
"""

from __future__ import annotations

import sys

from reprocheck.suite.history import open_history
from tests.suite.history.nights import check, night


def main(url: str, name: str, count: int) -> None:
    """Records checks of a night that all writers share, and of one of its own."""
    print("started", flush=True)
    sys.stdin.readline()
    shared, own = night(1), night(2, id=f"2026-11-02-{name}")
    with open_history(url) as history:
        history.begin_night(shared)
        history.begin_night(own)
        for number in range(count):
            facts = {"beside": {"number": str(number)}, "curves": b"%d" % number}
            history.add(check(shared, f"shared-{number}", **facts))
            history.add(check(shared, f"of-{name}-{number}", **facts))
            history.add(check(own, f"own-{number}", **facts))
            print(number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
