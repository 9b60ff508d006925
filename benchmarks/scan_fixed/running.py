"""What `reprocheck run` says of a program, in a folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy

from benchmarks.corpus.judging import mindspore_python
from benchmarks.scan_fixed.programs import SCRIPT, Program

REPORTS = Path("out")


@dataclass(frozen=True, slots=True)
class Said:
    """The verdict, whether all losses are equal in every bit, and the causes, best first."""

    verdict: str
    bitwise: bool
    causes: tuple[str, ...]


def said(program: Program, text: str, folder: Path, *options: str) -> Said:
    """Runs one of the program's texts twice. Raises RuntimeError where there is no report."""
    folder.mkdir(parents=True)
    (folder / SCRIPT).write_text(text, encoding="utf-8")
    for number in range(3):
        numpy.save(folder / f"image{number}.npy", numpy.full(2, number))
    words = [*options, "--no-draw", "-q", "--output", str(REPORTS), str(SCRIPT)]
    if program.framework == "mindspore":
        words = ["--python", mindspore_python(), *words]
    done = subprocess.run(
        [sys.executable, "-m", "reprocheck", "run", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    reports = list((folder / REPORTS).glob("train-*/report.json"))
    if len(reports) != 1:
        raise RuntimeError(f"{program.code}: no report\n{done.stdout}{done.stderr}")
    report = json.loads(reports[0].read_text(encoding="utf-8"))
    causes = tuple(f"{one['code']} ({one['confidence']})" for one in report["causes"])
    return Said(
        verdict=report["verdict"],
        bitwise=report["bitwise"]["equal"],
        causes=causes,
    )
