"""Three ranks that meet in each iteration, as in a collective, without a framework: `meeting.py FAULT[-all|-mpirun]`.

Rank 1 does what FAULT says before iteration 3, or is never started. The others wait for it without end, unless the launcher ends them with
it (`-all`). The launcher's variables are those of torchrun, or of Open MPI (`-mpirun`). They meet in the folder MEETING by files named
ITERATION-RANK; `gone` stands there once rank 1 has ended by a kill, or is about to hang.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

RANKS, ITERATIONS, FAULTY, WHEN = 3, 5, 1, 3
PLACE = Path(os.environ["MEETING"])


def launch(fault, how):
    names = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE") if how == "mpirun" else ("RANK", "WORLD_SIZE")
    ranks = []
    for rank in range(RANKS):
        if fault != "absent" or rank != FAULTY:
            said = dict(zip(names, (str(rank), str(RANKS))))
            ranks.append(subprocess.Popen([sys.executable, __file__, fault, "rank"], env={**os.environ, **said}))
    while how == "all" and not any(rank.poll() for rank in ranks):
        time.sleep(0.02)
    if fault == "killed":
        ranks[FAULTY].wait()
        (PLACE / "gone").touch()
    if how == "all":
        for rank in ranks:
            rank.terminate()
    sys.exit(max(abs(rank.wait()) for rank in ranks))


def meet(iteration, rank, ranks):
    """Returns once every rank has come here."""
    (PLACE / f"{iteration}-{rank}").touch()
    while any(not (PLACE / f"{iteration}-{other}").exists() for other in ranks):
        time.sleep(0.002)


def train(fault):
    import reprocheck

    rank = int(os.environ.get("RANK") or os.environ["OMPI_COMM_WORLD_RANK"])
    ranks = [other for other in range(RANKS) if other != FAULTY or fault not in ("absent", "shorter", "vanishes")]
    subprocess.run([sys.executable, "-c", "pass"], check=True)  # a helper, which has the rank from its parent and trains nothing
    for iteration in range(1, ITERATIONS + 1):
        if rank == FAULTY and iteration == WHEN:
            fail(fault)
        reprocheck.log_loss(rank + 1 / iteration)
        meet(iteration, rank, ranks)


def fail(fault):
    if fault == "raises":
        raise ValueError("planted")
    if fault in ("killed", "vanishes"):
        os.kill(os.getpid(), 9)
    if fault == "exits":
        os._exit(1)
    if fault == "hangs":
        (PLACE / "gone").touch()
        time.sleep(600)
    if fault == "shorter":
        sys.exit(0)


if __name__ == "__main__":
    fault, _, how = sys.argv[1].partition("-")
    train(fault) if sys.argv[2:] else launch(fault, how)
