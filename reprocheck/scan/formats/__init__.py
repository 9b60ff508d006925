"""Render the result of a scan as text; each format is a pure function of the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from reprocheck.language.letters import capital

if TYPE_CHECKING:
    from reprocheck.scan.finding import Finding, Result

NAMES = ("text", "json", "sarif", "github")
SUFFIXES = {".json": "json", ".sarif": "sarif", ".txt": "text"}


def render(result: Result, name: str) -> str:
    """Return a result in one of the formats, with a line break at its end unless it is empty."""
    function: Callable[[Result], str] = import_module(f"{__name__}.{name}").render
    return function(result)


def counted(number: int, word: str) -> str:
    """Return a number with its noun: `1 finding`, `2 findings`."""
    if number == 1:
        return f"1 {word}"
    return f"{number:,} {word}s"


def sentence(finding: Finding) -> str:
    """Return the message of a finding as a sentence."""
    return f"{capital(finding.message)}."


def summary(result: Result) -> str:
    """Return a sentence with the number of findings by severity, and of files and lines."""
    read = f"{counted(result.files, 'file')}, {counted(result.lines, 'line')}"
    if not result.findings:
        return f"No findings in {read}."
    numbers: Counter[str] = Counter(one.severity for one in result.findings)
    kinds = [severity for severity in ("error", "warning", "note") if severity in numbers]
    parts = ", ".join(counted(numbers[severity], severity) for severity in kinds)
    places = len({one.path for one in result.findings})
    return f"{counted(len(result.findings), 'finding')} ({parts}) in {places} of {read}."


def can_be_fixed(result: Result) -> str:
    """Return a sentence with the number of findings that `--fix` can fix; empty for none."""
    number = sum(one.patchable for one in result.findings)
    if not number:
        return ""
    return f"{number} of them can be fixed: `--diff` shows how, `--fix` does it."
