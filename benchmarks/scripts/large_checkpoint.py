"""A training without a framework that keeps a checkpoint of SIZE bytes: `large_checkpoint.py
SIZE`. It reads and writes it a megabyte at a time.
"""

import sys
from pathlib import Path

import reprocheck

CHECKPOINT = Path("checkpoint.ckpt")
BLOCK = bytes(range(256)) * 4096
STEPS = 6


def main() -> None:
    step = 0
    if CHECKPOINT.exists():
        with CHECKPOINT.open("rb") as file:
            step = int(file.readline())
            while file.read(len(BLOCK)):
                pass
    while step < STEPS:
        step += 1
        reprocheck.log_loss(1 / step)
        if step == 2:
            with CHECKPOINT.open("wb") as file:
                file.write(b"%d\n" % step)
                for _ in range(int(sys.argv[1]) // len(BLOCK)):
                    file.write(BLOCK)


if __name__ == "__main__":
    main()
