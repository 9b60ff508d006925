"""Rows that are finished, so that the command goes on where it was broken off. A row is of a
revision: where the sources are others, it is made again.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.processes import ROOT

FILE = Path(".cache/faults.jsonl")
MEASURED = ("reprocheck", "benchmarks/faults", "benchmarks/processes.py", "benchmarks/marked.py")


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """A fault that was made at all of its points.

    revision  the commit, as `revision` says it
    line      its row as Markdown
    is_good   whether nothing is wrong, left or lost
    """

    revision: str
    name: str
    line: str
    is_good: bool


def revision() -> str:
    """The commit whose sources are measured; "" where they are those of none."""
    changed = _git("status", "--porcelain", "--", *MEASURED)
    return "" if changed else _git("rev-parse", "--short=12", "HEAD")


def finished(of: str) -> dict[str, Finished]:
    """The rows of a revision that stand in the file, by their names."""
    file = ROOT / FILE
    if not of or not file.exists():
        return {}
    rows = [Finished(**json.loads(line)) for line in file.read_text().splitlines()]
    return {row.name: row for row in rows if row.revision == of}


def add(row: Finished) -> None:
    """Appends a row of a revision to the file."""
    if not row.revision:
        return
    file = ROOT / FILE
    file.parent.mkdir(exist_ok=True)
    with file.open("a", encoding="utf-8") as opened:
        opened.write(json.dumps(asdict(row)) + "\n")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
