"""`python -m benchmarks.replay [--only TEXT] [--folder DIR] [--write FILE]`: checks the scripts of
the corpus in which an operation may make the difference, runs the `replay.py` of each,
and prints the table of docs/reference/replay.md; exit 1 where less than 80 % of the operations show
their noise.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.corpus.__main__ import selected
from benchmarks.corpus.judging import ask, mindspore_python
from benchmarks.corpus.pairs import Pair, load
from benchmarks.corpus.table import versions
from reprocheck.model import Check, Rung
from reprocheck.model.evidence import (
    BatchDiffers,
    CallDiffers,
    ChangedAfterBackward,
    Evidence,
    InputsDiffer,
    LossDiffers,
    PathDiffers,
    StateDiffers,
    UpdateDiffers,
    WeightsDiffer,
    WeightWritten,
)
from reprocheck.replay import NAME, script
from reprocheck.workflow import replay

RUNGS = frozenset({"forward", "loss", "gradient", "RNG state"})
"""Rungs on which an operation, or a module, can be what makes the difference."""
REPORT = Path("reports", "latest", "report.json")
"""In the folder that a script was checked in."""
ALLOWED = 0.8
TIMES = 100
MARK = "<!-- python -m benchmarks.replay -->\n"
"""In the page: the table follows to its end."""
NO_OPERATION: Mapping[type[Evidence], str] = {
    WeightsDiffer: "the weights differ before anything is called",
    StateDiffers: "what seeds the generator makes the difference, and nothing that draws from it",
    BatchDiffers: "other samples are handed out",
    PathDiffers: "the runs do not call the same modules",
    InputsDiffer: "what the module or the loss is given comes from what was not recorded",
    LossDiffers: "what the loss is taken from comes from what was not recorded",
    ChangedAfterBackward: "the script changes the gradient between two operations",
    UpdateDiffers: "the update makes it; its operators are not recorded",
    WeightWritten: "the script writes to the weight",
}
"""Why nothing that could be called again makes a difference, by what its rung shows."""
WITH_OPERATORS = "torch"
"""Of other frameworks the module is the culprit, whether or not it can be run alone."""
_DIFFER = re.compile(r"(?P<title>.+): (?P<unequal>\d+) of (?P<others>\d+) further results differ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """A script of the corpus, and what its replay shows.

    of       what makes the difference: `operator`, `module`, or nothing that could be called again
    culprit  its name
    lines    what the replay printed of its results
    shown    whether results differed; None where there is no replay
    why      why there is none
    """

    pair: str
    rung: str
    of: str
    culprit: str
    lines: tuple[str, ...] = ()
    shown: bool | None = None
    why: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument("--only", action="append", metavar="TEXT", help="names that contain TEXT")
    parser.add_argument(
        "--folder", type=Path, help="keep the reports here; those that are here are not made again"
    )
    parser.add_argument(
        "--kept", action="store_true", help="only scripts of which --folder has a report"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table to this page")
    arguments = parser.parse_args()
    everything = [pair for pair in load() if _may_be_an_operation(pair)]
    pairs = [pair for pair in selected(everything, arguments.only) if _is_there(pair, arguments)]
    rows = []
    with tempfile.TemporaryDirectory(prefix="replay-") as scratch:
        for pair in pairs:
            row = replayed(pair, Path(arguments.folder or scratch, pair.name).resolve())
            print(f"{row.pair}: {row.culprit or 'no operation'}, {row.shown}", file=sys.stderr)
            rows.append(row)
    text = page(rows, of=len(everything))
    print(text)
    if arguments.write is not None:
        head, _, _ = arguments.write.read_text("utf-8").partition(MARK)
        arguments.write.write_text(f"{head}{MARK}{text}", encoding="utf-8")
    return int(share(rows) < ALLOWED)


def _may_be_an_operation(pair: Pair) -> bool:
    """Whether an operation of PyTorch may make the difference, by what the corpus expects."""
    return not RUNGS.isdisjoint(pair.rungs)


def _is_there(pair: Pair, arguments: argparse.Namespace) -> bool:
    """Whether a pair is to be looked at: where that is asked for, only with a report."""
    if not arguments.kept or arguments.folder is None:
        return True
    return Path(arguments.folder, pair.name, REPORT).exists()


def replayed(pair: Pair, workdir: Path) -> Replayed:
    """Checks the script of a pair, unless that was done in this folder, and runs its replay, if
    there is one.
    """
    report = workdir / REPORT
    if not report.exists():
        ask(pair, pair.script, workdir)
    check = replay.load(report.parent)
    rung = check.first_rung
    if rung is None:
        return Replayed(pair=pair.name, rung="none", of="", culprit="", why="the runs agreed")
    text = script(check)
    row = Replayed(
        pair=pair.name, rung=rung.rung, of=_of(check, rung), culprit=_culprit(check, rung)
    )
    if text is None:
        return replace(row, why=_why_not(check, rung))
    path = workdir / NAME
    path.write_text(text, encoding="utf-8")
    python = sys.executable
    if pair.python == "mindspore":
        python = mindspore_python()
    # its own exit status says whether results differed
    done = subprocess.run(
        [python, "-I", str(path), "--times", str(TIMES)],
        cwd=workdir,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1) or done.stderr:
        return replace(row, shown=False, why=done.stderr.strip().splitlines()[-1])
    lines = tuple(_short(line) for line in done.stdout.splitlines() if _DIFFER.match(line))
    return replace(row, shown=done.returncode == 1, lines=lines)


def _of(check: Check, rung: Rung) -> str:
    """What makes the difference itself."""
    operator = rung.operator
    if operator is not None and not operator.inputs_differ and not operator.only_in_one_run:
        return "operator"
    if check.ladder is not None and check.ladder.replay is not None:
        return check.ladder.replay.of
    if not isinstance(rung.evidence, CallDiffers):
        return ""
    if WITH_OPERATORS in check.runs[0].frameworks:
        return "code of the script"
    return "module"


def _culprit(check: Check, rung: Rung) -> str:
    """Its name, without the line that it stands on."""
    if check.ladder is not None and check.ladder.replay is not None:
        return f"`{check.ladder.replay.name}`"
    return rung.place or ""


def _why_not(check: Check, rung: Rung) -> str:
    """Why there is no replay, as the check says it."""
    said = (line for line in check.coverage if NAME in line)
    return next(said, NO_OPERATION.get(type(rung.evidence), f"rung {rung.rung}: not known"))


def _short(line: str) -> str:
    found = _DIFFER.match(line)
    assert found is not None
    return f"{found['title'].lower()}: {found['unequal']} of {found['others']}"


def share(rows: Sequence[Replayed]) -> float:
    """Of the operators and modules of the framework that make a difference, how many show it."""
    operations = [row for row in rows if row.of in ("operator", "module")]
    if not operations:
        return 1.0
    return sum(row.shown is True for row in operations) / len(operations)


def page(rows: Sequence[Replayed], of: int) -> str:
    """The table, and the share; `of`: how many scripts could have been checked."""
    operations = [row for row in rows if row.of in ("operator", "module")]
    others = [row for row in rows if row not in operations]
    shown = sum(row.shown is True for row in operations)
    lines = [
        f"Checked: {len(rows)} of the {of} scripts whose expected rung is one of"
        f" {', '.join(sorted(RUNGS))}.",
        "",
        "| script | rung | culprit | further results that differ | shown |",
        "|---|---|---|---|---|",
        *(
            f"| {row.pair} | {row.rung} | {row.culprit} | {'; '.join(row.lines) or row.why} |"
            f" {'yes' if row.shown else '**no**'} |"
            for row in operations
        ),
        "",
        f"Of {len(operations)} operations that make the first difference {shown} show it when they"
        f" are run alone: {share(rows):.0%}; at least {ALLOWED:.0%} is asked for.",
        "",
        "Where no operation of the framework makes the difference there is no replay:",
        "",
        "| script | rung | why |",
        "|---|---|---|",
        *(f"| {row.pair} | {row.rung} | {row.why} |" for row in others),
        "",
        f"Versions: {versions()}.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
