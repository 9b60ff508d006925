"""A great many iterations as an adapter reports them, without the training; prints memory (MB) and
CPU time. Runs with the recorder.
"""

import json
import math
import sys
import time
from pathlib import Path

from reprocheck_child.recorder import events


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    recorder = events.CURRENT
    if recorder is None:
        sys.exit("the recorder is not installed")
    index = recorder.optimizer("SGD")
    ten = started = 0.0
    for iteration in range(int(sys.argv[1])):
        if iteration == 10:
            ten, started = resident(), time.process_time()
        recorder.loss([2.0 / (1.0 + 1e-4 * iteration) + 0.1 * math.sin(iteration)], "float32")
        recorder.update(index, iteration == 0 or None)
    print(json.dumps({"ten": ten, "million": resident(), "cpu": time.process_time() - started}))


if __name__ == "__main__":
    main()
