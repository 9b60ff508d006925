"""The result as a Markdown table, and the machine in general terms."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One measurement. `value` and `allowed` are in `unit`; `plain` is what the same costs without
    reprocheck.
    """

    what: str
    value: float
    allowed: float | None
    unit: str
    plain: str = ""
    how: str = ""

    @property
    def met(self) -> str:
        """Whether the value is within what is allowed."""
        return "" if self.allowed is None else "yes" if self.value <= self.allowed else "**no**"


def markdown(
    rows: Iterable[Row],
    machine: str,
    seconds: float,
    *,
    title: str = "Speed and memory",
    command: str = "python -m benchmarks",
) -> str:
    """The page: heading, machine, table. What it costs without reprocheck has a column where a row
    says it.
    """
    found = list(rows)
    names = ["what", "without reprocheck", "measured", "allowed", "met", "how"]
    table = [names, ["---"] * len(names), *map(_cells, found)]
    if not any(row.plain for row in found):
        table = [[cells[0], *cells[2:]] for cells in table]
    lines = [
        f"# {title}",
        "",
        f"Written by `{command}` in {seconds:.0f} s. {machine}",
        "",
        *(f"| {' | '.join(cells)} |" for cells in table),
    ]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    allowed = "" if row.allowed is None else _number(row.allowed, row.unit)
    return [row.what, row.plain, _number(row.value, row.unit), allowed, row.met, row.how]


def _number(value: float, unit: str) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 3 if unit == "×" else 2
    return f"{value:.{digits}f} {unit}"


def machine() -> str:
    """Processor, memory, system and versions; no names."""
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    versions = ", ".join(
        f"{name} {_version(name)}" for name in ("torch", "numpy", "pandas", "matplotlib")
    )
    return (
        f"{cores} cores ({_cpu()}), {memory:.0f} GB of memory, {platform.system()}, Python"
        f" {platform.python_version()}, {versions}. Load at the end: {load:.1f}."
    )


def _cpu() -> str:
    match = re.search(
        r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE
    )
    return match.group(1) if match else platform.machine()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def median(values: Sequence[float]) -> float:
    """The median."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
