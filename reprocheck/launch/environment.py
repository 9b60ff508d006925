"""What the parent process knows of the environment: machine, processors, git. Flat keys; the runs record the rest themselves."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

GIT_SECONDS = 3.0


def facts(cwd: Path) -> dict[str, object]:
    """Facts by key, not masked."""
    found: dict[str, object] = {
        "platform.system": platform.system(),
        "platform.release": platform.release(),
        "platform.machine": platform.machine(),
        "cpu.model": _cpu_model(),
        "cpu.count": os.cpu_count(),
        "cpu.affinity": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory.bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "reprocheck.python": platform.python_version(),
    }
    found.update(git(cwd))
    return {key: value for key, value in found.items() if value is not None}


def git(cwd: Path) -> dict[str, object]:
    """`git.commit` and `git.dirty` of the working directory; nothing where it is no repository or git does not answer in time."""
    command = ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    try:
        answer = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=GIT_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = answer.stdout.decode("utf-8", "replace").splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), None)
    return {"git.commit": commit, "git.dirty": any(not line.startswith("#") for line in lines)}


def _cpu_model() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.lower().startswith(("model name", "hardware", "cpu model")):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
