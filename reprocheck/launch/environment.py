"""What the parent process alone knows of the environment: git, memory, its own Python; and the
machine, for a run that records nothing.

Flat keys; the runs record the rest themselves. Keys that they record, too, mean the same there and
give way to theirs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GIT_SECONDS = 3.0


def facts(cwd: Path) -> dict[str, object]:
    """Facts by key, not masked."""
    system = os.uname()
    return {
        "platform.system": system.sysname,
        "platform.machine": system.machine,
        "platform.kernel": system.release,
        "memory.bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "reprocheck.python": ".".join(map(str, sys.version_info[:3])),
        **git(cwd),
    }


def git(cwd: Path) -> dict[str, object]:
    """`git.commit` and `git.dirty` of the working directory; nothing where it is no repository or
    git does not answer in time.
    """
    command = [
        "git",
        "--no-optional-locks",
        "status",
        "--porcelain=v2",
        "--branch",
        "--untracked-files=no",
    ]
    try:
        answer = subprocess.run(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = answer.stdout.decode("utf-8", "replace").splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), None)
    found = {"git.commit": commit, "git.dirty": any(not line.startswith("#") for line in lines)}
    return {key: value for key, value in found.items() if value is not None}
