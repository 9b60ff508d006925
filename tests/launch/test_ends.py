"""The order in which the processes of a run end."""

from __future__ import annotations

import os
import signal
import subprocess
import time

from reprocheck.launch.run.process import Ends


def test_of_deaths_that_are_seen_at_once_the_order_is_known() -> None:
    processes = [subprocess.Popen(["sleep", "600"]) for _ in range(6)]
    ends = Ends(time.monotonic())
    ends.watch(f"{process.pid}-1.jsonl" for process in processes)
    ends.look()
    assert not ends.seen
    order = [processes[number] for number in (3, 5, 0, 4, 2, 1)]
    for process in order:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    ends.look()
    times = list(ends.seen.values())
    assert list(ends.seen) == [f"{process.pid}-1" for process in order]
    assert times == sorted(set(times)), "no two of them at the same time"
    ends.look()
    assert len(ends.seen) == 6
    ends.close()
    assert ends.descriptors == ()
