"""Runs reprocheck on a pair as a user does, and holds what it said against what is expected."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.corpus.pairs import Pair
from benchmarks.drawn import same_elsewhere

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 600


@dataclass(frozen=True, kw_only=True, slots=True)
class Starts:
    """How often a script was started, from the command on.

    rung      until the first differing rung was known
    found     until the search had come to its end
    patched   with a patch, afterwards
    """

    rung: int = 0
    found: int = 0
    patched: int = 0

    @property
    def further(self) -> int:
        """Starts after the first two."""
        return max(0, self.found + self.patched - 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What reprocheck said of one script: the facts of its report that the corpus has an
    expectation of.

    line   the text of the line that the first cause cites    fix   what is to be done against it
    """

    verdict: str
    bitwise: bool | None
    rung: str
    place: str
    detail: str
    codes: tuple[str, ...]
    confidences: tuple[str, ...]
    line: str
    fix: str
    report: Mapping[str, Any]
    stderr: str = ""
    smallest: tuple[str, ...] = ()
    starts: Starts = field(default_factory=Starts)
    settled: bool = True
    """Whether the report is the same when it is drawn again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A pair, what was said of its script and of its twin, and what of that is wrong (words such as
    `rung`, `twin causes`).
    """

    pair: Pair
    bad: Said
    twin: Said
    wrong: tuple[str, ...]


def judge(
    pair: Pair,
    scratch: Path,
    options: Sequence[str] = (),
    *,
    verdicts_only: bool = False,
    explain: bool = False,
) -> Judged:
    """Runs both scripts of a pair, each in an empty folder of its own; a second time where two
    random draws happened to lie close.
    """
    command = "explain" if explain else "run"
    bad = ask(pair, pair.script, scratch / "bad", options, command)
    if agreed_narrowly(bad, pair.verdicts):
        bad = ask(pair, pair.script, scratch / "bad", options, command)
    twin = ask(pair, pair.twin, scratch / "twin", options, command)
    wrong = [
        *faults(pair, bad, twin, verdicts_only=verdicts_only),
        *(unproven(pair, bad, twin) if explain else ()),
    ]
    return Judged(pair=pair, bad=bad, twin=twin, wrong=tuple(wrong))


def ask(
    pair: Pair,
    script: str,
    workdir: Path,
    options: Sequence[str] = (),
    command: str = "run",
    variables: Mapping[str, str] | None = None,
) -> Said:
    """`reprocheck run --format json -o -`, or `explain`, on a script in `workdir`.

    variables  of the environment, beside those of every check
    """
    shutil.rmtree(workdir, ignore_errors=True)
    workdir.mkdir(parents=True)
    python = ["--python", mindspore_python()] if pair.python == "mindspore" else []
    words = [
        sys.executable,
        "-m",
        "reprocheck",
        command,
        "--quiet",
        "--format",
        "json",
        "-o",
        "-",
        *python,
        *options,
        *pair.entry(script),
    ]
    done = subprocess.run(
        words,
        cwd=workdir,
        env={**_environment(), **(variables or {})},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT,
        check=False,
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {"verdict": f"exit code {done.returncode}"}
    latest = workdir / "reports" / "latest"
    said = read(report, done.stderr, starts_in(latest))
    return (
        replace(said, settled=same_elsewhere(latest.resolve())) if said.rung or said.codes else said
    )


def starts_in(folder: Path) -> Starts:
    """The runs that lie in a report folder."""
    rung = [*folder.glob("run-*/trace"), *folder.glob("module/run-*/trace")]
    arms = set(folder.glob("arms/*/run-*/trace"))
    patched = set(folder.glob("arms/*-patched/run-*/trace"))
    found = [*rung, *folder.glob("op/run-*/trace"), *(arms - patched)]
    return Starts(rung=len(rung), found=len(found), patched=len(patched))


def read(report: Mapping[str, Any], stderr: str = "", starts: Starts | None = None) -> Said:
    """The facts of a report.json that the corpus has an expectation of."""
    words = report["verdict"].replace("_", " ").upper()
    ladder = report.get("ladder") or {}
    first: Mapping[str, Any] = next(
        (rung for rung in ladder.get("rungs", []) if rung["rung"] == _first(ladder)), {}
    )
    causes = report.get("causes") or []
    return Said(
        verdict=f"{words} ({report['failed_check']})" if report.get("failed_check") else words,
        bitwise=(report.get("bitwise") or {}).get("equal"),
        rung=first.get("rung") or "",
        place=first.get("place") or "",
        detail=first.get("detail") or "",
        codes=tuple(cause["code"] for cause in causes),
        confidences=tuple(cause["confidence"] for cause in causes),
        line=cited(causes[0]) if causes else "",
        fix=(causes[0].get("fix") or "") if causes else "",
        report=report,
        stderr=stderr,
        smallest=tuple((report.get("controls") or {}).get("smallest") or ()),
        starts=starts or Starts(),
    )


def cited(cause: Mapping[str, Any]) -> str:
    """The text of the line that a cause cites, without its indentation; empty where it cites
    none.
    """
    source = cause.get("source") or {}
    if not source.get("line"):
        return ""
    lines = Path(source["file"]).read_text(encoding="utf-8").splitlines()
    return lines[source["line"] - 1].strip()


def agreed_narrowly(said: Said, wanted: Sequence[str]) -> bool:
    """Whether runs agree within the tolerance in a check that has to fail.

    Two draws of a wide distribution do so once in fifty times or so: in both checks, or in the
    forward check alone.
    """
    if said.verdict in wanted or said.bitwise is not False:
        return False
    return said.verdict in ("REPRODUCIBLE", "NOT REPRODUCIBLE (backward)")


def faults(pair: Pair, bad: Said, twin: Said, *, verdicts_only: bool = False) -> list[str]:
    """What of it is wrong, in words."""
    wrong = []
    agreed_by_chance = pair.chance and bad.verdict == "REPRODUCIBLE"
    if bad.verdict not in pair.verdicts and not agreed_by_chance:
        wrong.append("verdict")
    if not verdicts_only and not agreed_by_chance:
        wrong += [name for name, right in _why(pair, bad) if not right]
    if twin.verdict != "REPRODUCIBLE" or (pair.bitwise and twin.bitwise is not True):
        wrong.append("twin")
    if not verdicts_only and (twin.codes or twin.rung):
        wrong.append("twin causes")
    if not (bad.settled and twin.settled):
        wrong.append("drawn again")
    return wrong


def unproven(pair: Pair, bad: Said, twin: Said) -> list[str]:
    """What `explain` said wrong: another smallest set than one of those expected, not confirmed, or
    something confirmed in the twin.
    """
    wrong = ["twin confirmed"] if twin.smallest or "confirmed" in twin.confidences else []
    if pair.fixed_by is None or (pair.chance and bad.verdict == "REPRODUCIBLE"):
        return wrong
    if not pair.fixed_by:
        return wrong + ["smallest set"] * bool(bad.smallest)
    if len(bad.smallest) != 1 or bad.smallest[0] not in pair.fixed_by:
        wrong.append("smallest set")
    elif bad.confidences[:1] != ("confirmed",):
        wrong.append("confidence")
    return wrong


def _why(pair: Pair, bad: Said) -> list[tuple[str, bool]]:
    """The rung, the place on it, the first cause, its line and its fix: whether each is one of
    those expected.
    """
    return [
        ("rung", not pair.rungs or bad.rung in pair.rungs),
        ("place", not pair.places or any(is_at(place, bad.place) for place in pair.places)),
        ("cause", not pair.codes or (bool(bad.codes) and bad.codes[0] in pair.codes)),
        ("line", not pair.lines or any(text in bad.line for text in pair.lines)),
        ("fix", not pair.fixes or any(text in bad.fix for text in pair.fixes)),
    ]


def is_at(expected: str, place: str) -> bool:
    """Whether a place is the expected one, a dotted child of it, an indexed one of it
    (`DataLoader[0]`), or it by a longer name.
    """
    return (
        place == expected
        or place.startswith((f"{expected}.", f"{expected}["))
        or place.endswith(f".{expected}")
    )


def mindspore_python() -> str:
    """The interpreter that has MindSpore; it need not exist."""
    return os.environ.get(
        "REPROCHECK_TEST_MINDSPORE_PYTHON", str(ROOT / ".venv-mindspore" / "bin" / "python")
    )


def _first(ladder: Mapping[str, Any]) -> object:
    first = ladder.get("first")
    return first.get("rung") if isinstance(first, dict) else first


def _environment() -> dict[str, str]:
    """This environment without settings of reprocheck; `python` and `torchrun` are those of this
    interpreter; two threads, no charts.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("REPROCHECK_", "PYTEST_"))
    }
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH", "")]))
    return {
        **kept,
        "OMP_NUM_THREADS": "2",
        "OMP_WAIT_POLICY": "passive",
        "REPROCHECK_DRAW": "false",
    }
