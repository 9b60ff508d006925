"""Read a recorded check, compare the runs, write all reports; prints the seconds that took, peak
memory and the size of the page in MB.
"""

import json
import os
import re
import sys
import time
from pathlib import Path


def main() -> None:
    started = time.perf_counter()
    from reprocheck import report
    from reprocheck.workflow import replay

    folder = Path(sys.argv[1])
    loaded = replay.load(folder)
    compared = time.perf_counter()
    report.write(loaded, folder)
    ended = time.perf_counter()
    size = (folder / report.FORMATS["html"].filename).stat().st_size / 2**20
    said = {
        "compare": compared - started,
        "report": ended - compared,
        "cpu": sum(os.times()[:4]),  # also of processes that it started and waited for
        "page": size,
        "peak": peak(),
    }
    print(json.dumps({**said, "verdict": loaded.verdict.title}))


def peak() -> float:
    """Of this program alone: what `getrusage` says counts the process that started it too."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found.group(1)) / 1024 if found else float("nan")


if __name__ == "__main__":
    main()
