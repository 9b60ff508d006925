"""What the user waits for: `reprocheck --help`, a check against two plain runs, comparing and
reporting a million iterations.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

from benchmarks.processes import SCRIPTS, Used, python
from benchmarks.table import Row, median
from reprocheck.model import CheckRecord, EntryPoint, RunRecord, Tolerance
from reprocheck.recording import record

PRINTS: tuple[tuple[tuple[str, ...], float], ...] = (
    (("--help",), 2),
    (("run", "--help"), 4),
    (("resume", "--help"), 4),
    (("suite", "run", "--help"), 4),
    (("rules", "RC302"), 4),
)
"""What only prints, and how many times a bare start of Python it may take."""
HELPS = 9
PAIRS = 3
MILLION = 1_000_000


def help_page(folder: Path) -> list[Row]:
    """CPU time of what only prints, as multiples of `python -c pass`, taking turns."""
    bare, times = [], {words: [] for words, _ in PRINTS}
    for words in times:
        python("-m", "reprocheck", *words)  # the first one compiles
    for _ in range(HELPS):
        bare.append(python("-c", "pass").cpu)
        for words, spent in times.items():
            spent.append(python("-m", "reprocheck", *words).cpu)
    return [
        Row(
            what=f"`reprocheck {' '.join(words)}`",
            value=median(times[words]) / median(bare),
            allowed=allowed,
            unit="×",
            plain=f"{1e3 * median(bare):.1f} ms (`python -c pass`)",
            how=f"CPU time, median of {HELPS}",
        )
        for words, allowed in PRINTS
    ]


def end_to_end(folder: Path) -> list[Row]:
    """`reprocheck run` of a script that passes against two plain runs of it, taking turns.

    The ten iterations of the torch script are those of the check.
    """
    small = _Against(SCRIPTS / "small.py", folder)
    training = _Against(SCRIPTS / "training.py", folder)
    how = f"wall time with the reports of a pass, {PAIRS} pairs taking turns, median"
    return [
        Row(
            what="`reprocheck run` of a NumPy script",
            value=median([check.wall for check, _ in small.pairs]),
            allowed=1.2,
            unit="s",
            plain=f"{median([plain.wall for _, plain in small.pairs]):.2f} s for two plain runs",
            how=how,
        ),
        Row(
            what="its own CPU time, beside two plain runs",
            value=median([check.cpu - plain.cpu for check, plain in small.pairs]),
            allowed=None,
            unit="s",
            how="of all processes",
        ),
        Row(
            what="`reprocheck run` of a torch script against two plain runs",
            value=median([check.wall / plain.wall for check, plain in training.pairs]),
            allowed=0.95,
            unit="×",
            plain=f"{median([plain.wall for _, plain in training.pairs]):.1f} s",
            how=how,
        ),
        Row(
            what="the same in CPU time",
            value=median([check.cpu / plain.cpu for check, plain in training.pairs]),
            allowed=1.05,
            unit="×",
            how="of all processes",
        ),
    ]


class _Against:
    """What checks of a script use, each with two plain runs."""

    def __init__(self, script: Path, folder: Path) -> None:
        reports = folder / "reports"
        check = ("-m", "reprocheck", "run", "--quiet", "--output", str(reports), str(script))
        python(*check, cwd=folder)
        self.pairs: list[tuple[Used, Used]] = []
        for pair in range(PAIRS):
            if pair % 2:
                checked, plain = python(*check, cwd=folder), _twice(str(script), folder)
            else:
                plain, checked = _twice(str(script), folder), python(*check, cwd=folder)
            self.pairs.append((checked, plain))


def _twice(script: str, folder: Path) -> Used:
    first, second = python(script, cwd=folder), python(script, cwd=folder)
    return Used(cpu=first.cpu + second.cpu, wall=first.wall + second.wall, stdout=first.stdout)


def million(folder: Path) -> list[Row]:
    """Compare two runs of a million iterations and write all reports, against the same for ten."""
    few, many = _recorded(folder / "ten", 10), _recorded(folder / "million", MILLION)
    ten, said = (
        json.loads(python(str(SCRIPTS / "draw.py"), str(recorded)).stdout)
        for recorded in (few, many)
    )
    if said["verdict"] != "REPRODUCIBLE":
        raise RuntimeError(f"the recorded pair was judged {said['verdict']}")
    seconds = said["compare"] + said["report"]
    parts = (
        f"wall time: {said['compare']:.1f} s read and compared, {said['report']:.1f} s drawn;"
        f" {said['cpu']:.1f} s of CPU"
    )
    plain = f"{ten['compare'] + ten['report']:.1f} s for 10"
    return [
        Row(
            what="a million iterations in two runs, compared and reported",
            value=seconds,
            allowed=8,
            unit="s",
            plain=plain,
            how=parts,
        ),
        Row(
            what="its page",
            value=said["page"],
            allowed=3,
            unit="MB",
            plain=f"{ten['page']:.2f} MB for 10",
            how="report.html",
        ),
        Row(
            what="memory of comparing and reporting, from 10 iterations to a million",
            value=said["peak"] - ten["peak"],
            allowed=100,
            unit="MB",
            plain=f"{ten['peak']:.0f} MB for 10",
            how="peak resident memory",
        ),
    ]


# ------------------------------------------------------------------------------------------ a check


def _recorded(folder: Path, iterations: int) -> Path:
    """A report folder as `reprocheck run` leaves it, of two runs that part in the last bits from
    some iteration on.
    """
    runs = []
    for number in (1, 2):
        trace = folder / f"run-{number}" / "trace"
        trace.mkdir(parents=True)
        with (trace / f"{1000 + number}-{number}.jsonl").open("w", encoding="ascii") as file:
            file.writelines(_events(number, iterations))
        (trace.parent / "stdout.log").write_text("", encoding="ascii")
        (trace.parent / "stderr.log").write_text("", encoding="ascii")
        runs.append(
            RunRecord(
                number=number,
                ended="completed",
                exit_status=0,
                started="2026-01-01T00:00:00+00:00",
                seconds=1.0,
                trace=f"run-{number}/trace",
                stdout=f"run-{number}/stdout.log",
                stderr=f"run-{number}/stderr.log",
            )
        )
    entry = EntryPoint(command=("python", "train.py"), kind="script", name="train")
    made = CheckRecord(
        reprocheck_version="0",
        entry_point=entry,
        started="2026-01-01T00:00:00+00:00",
        tolerance=Tolerance(),
        settings=(),
        runs=tuple(runs),
    )
    record.write(folder, made)
    return folder


def _events(number: int, iterations: int) -> Iterator[str]:
    hello = {
        "e": "process",
        "v": 1,
        "pid": 1000 + number,
        "ppid": 1,
        "time": 1.0,
        "argv": ["python", "train.py"],
        "executable": "python",
    }
    hello.update(python="3.11.0", name="MainProcess", how="start", rank=None, world=None)
    yield json.dumps(hello) + "\n"
    yield '{"e":"framework","name":"torch","version":"2","hooks":{}}\n'
    yield '{"e":"optimizer","o":0,"class":"SGD"}\n'
    for iteration in range(1, iterations + 1):
        loss = 2.0 / (1.0 + 1e-4 * iteration) + 0.1 * math.sin(iteration)
        if number == 2 and iteration > iterations // 3:
            loss *= 1.0 + 1e-7
        changed = "true" if iteration == 1 else "null"
        yield f'{{"e":"loss","k":"backward","v":[{loss!r}],"d":"float64"}}\n'
        yield f'{{"e":"update","o":0,"c":{changed},"i":{iteration}}}\n'
    yield '{"e":"exit"}\n'
