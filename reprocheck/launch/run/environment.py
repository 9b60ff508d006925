"""Collect what the parent process alone knows of the environment.

Git, memory, its own Python, the name of the system and its compilers; and the machine, for a run
that records nothing.

Flat keys; the runs record the rest themselves. Keys that they record, too, mean the same there and
give way to theirs.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

SECONDS = 3.0
"""A program that takes longer to say its version is not waited for."""
COMPILERS: Mapping[str, str] = {
    "gcc": r"gcc (.*)",
    "clang": r"clang version (.*)",
    "cmake": r"cmake version (.*)",
    "nvcc": r"release .+ V(.*)",
}
"""Programs that say their version with `--version`, and where it stands in what they print: those
that PyTorch's `collect_env` asks. They compile what a training makes while it runs.
"""


def facts(cwd: Path) -> dict[str, object]:
    """Return facts by key, not masked."""
    system = os.uname()
    release: dict[str, object] = {}
    with suppress(OSError):  # `Debian GNU/Linux 12 (bookworm)`, where the system says it
        release["platform.release"] = platform.freedesktop_os_release()["PRETTY_NAME"]
    # all compilers that are there are asked at once
    started = [(name, _started(name)) for name in COMPILERS]
    versions: dict[str, object] = {}
    for name, process in started:
        version = re.search(COMPILERS[name], _printed(process))
        if version is not None:
            versions[f"{name}.version"] = version.group(1).strip()
    return {
        "platform.system": system.sysname,
        "platform.machine": system.machine,
        "platform.kernel": system.release,
        **release,
        **versions,
        "memory.bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "reprocheck.python": ".".join(map(str, sys.version_info[:3])),
        **git(cwd),
    }


def _started(name: str) -> subprocess.Popen[bytes] | None:
    silent = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            [name, "--version"], stdin=silent, stdout=subprocess.PIPE, stderr=silent
        )
    except OSError:
        return None


def _printed(process: subprocess.Popen[bytes] | None) -> str:
    if process is None:
        return ""
    with process:
        try:
            printed, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return ""
    return printed.decode("utf-8", "replace")


def git(cwd: Path) -> dict[str, object]:
    """Return `git.commit` and `git.dirty` of the working directory.

    Nothing if it is no repository or git does not answer in time.
    """
    status = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    try:
        answer = subprocess.run(
            ["git", "--no-optional-locks", *status],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = answer.stdout.decode("utf-8", "replace").splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), None)
    answers = {"git.commit": commit, "git.dirty": any(not line.startswith("#") for line in lines)}
    return {key: value for key, value in answers.items() if value is not None}


DEV = Path("/dev")
KINDS = (
    ("nvidia[0-9]*", "CUDA_VISIBLE_DEVICES", ("", "-1", "NoDevFiles")),
    ("davinci[0-9]*", "ASCEND_RT_VISIBLE_DEVICES", ("-1",)),
)
"""Device files, the variable that hides such devices from a process, and its values that hide
all.
"""


def accelerators(environment: Mapping[str, str], dev: Path | None = None) -> tuple[str, ...]:
    """Return the device files (`/dev/nvidia0`) of CUDA and Ascend that are not hidden.

    By `environment`.
    """
    devices: list[str] = []
    for pattern, variable, hides_all in KINDS:
        if environment.get(variable, "all").strip() not in hides_all:
            devices += sorted(str(path) for path in (dev or DEV).glob(pattern))
    return tuple(devices)
