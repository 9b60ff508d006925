"""`python -m benchmarks.resumes.reported [--only TEXT] [--write FILE] [--explain]`: checks each
program of `reported.toml` and its twin, and prints the table; exit 1 if a row is wrong. With
`--explain`, a patch is tried where one is known.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.resumes.__main__ import RIGHT, Said, Script, judged

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
FAULTY = "does_not_resume_exactly"
REPORTS = "https://github.com"
FAULT, TWIN = "fault", "right"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A row of `reported.toml`.

    report      `owner/name#number`
    rung, code  what must be said of the fault
    lines       texts of the lines that may lead
    place       the place that is looked at
    """

    name: str
    report: str
    what: str
    rung: str
    code: str
    lines: tuple[str, ...]
    command: tuple[str, ...] = ("train.py",)
    options: tuple[str, ...] = ()
    place: str = "first"
    needs: tuple[str, ...] = ()

    def script(self, kind: str) -> Script:
        """What must be said of the fault or of its twin."""
        is_fault = kind == FAULT
        return Script(
            script=f"{self.name}/{kind}",
            verdict=FAULTY if is_fault else RIGHT,
            rung=self.rung if is_fault else "",
            code=self.code if is_fault else "",
            lines=self.lines if is_fault else (),
            options=self.options,
            command=self.command,
            needs=self.needs,
            place=self.place,
        )

    @property
    def link(self) -> str:
        """The report as a link in Markdown. GitHub leads from an issue to a pull request."""
        repository, _, number = self.report.partition("#")
        return f"[{self.report}]({REPORTS}/{repository}/issues/{number})"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.resumes.reported")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases whose name has it")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table there, too")
    parser.add_argument("--folder", type=Path, help="keep the report folders in here")
    parser.add_argument("--explain", action="store_true", help="try a patch, too")
    arguments = parser.parse_args()
    cases = [one for one in load() if arguments.only in one.name]
    with tempfile.TemporaryDirectory(prefix="reported-") as scratch:
        folder = arguments.folder or Path(scratch)
        rows = [
            (case, _said(case, FAULT, folder, arguments.explain), _said(case, TWIN, folder, False))
            for case in cases
        ]
    page = table(rows)
    print(page)
    if arguments.write is not None:
        arguments.write.write_text(page, encoding="utf-8")
    return int(not all(fault.is_right and twin.is_right for _, fault, twin in rows))


def load() -> tuple[Case, ...]:
    """All rows, in the order of the file."""
    with (HERE / "reported.toml").open("rb") as file:
        rows = tomllib.load(file)["case"]
    return tuple(Case(**{key: _tuple(value) for key, value in row.items()}) for row in rows)


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _said(case: Case, kind: str, folder: Path, explain: bool) -> Said:
    said = judged(case.script(kind), folder, scripts=CASES, explain=explain)
    word = "right" if said.is_right else "WRONG"
    shown = f"{word}: {case.name}/{kind}: {said.verdict}, {said.rung}, {said.code}, {said.line}"
    print(f"{shown}: {said.where} {said.tried}", file=sys.stderr, flush=True)
    return said


def table(rows: Sequence[tuple[Case, Said, Said]]) -> str:
    """The rows as a page in Markdown."""
    faults = [fault for _, fault, _ in rows]
    tried = [fault for fault in faults if fault.tried]
    counts = (
        f"{sum(one.has_verdict for one in faults)} by verdict",
        f"{sum(one.has_code for one in faults)} by mechanism",
        f"{sum(one.has_line for one in faults)} by the line that leads",
    )
    patches = (
        f"; {sum(one.is_patched for one in tried)} of {len(tried)} patches that were tried hold"
    )
    head = [
        "# Resumes that were reported in 2025 and 2026",
        "",
        "Made by `python -m benchmarks.resumes.reported --explain --write"
        " benchmarks/resumes_reported.md`. Each case is a small program of our own with the fault"
        " of a public report, and a twin that resumes exactly.",
        "",
        f"{len(rows)} reports: told are {', '.join(counts)}"
        f"{patches * bool(tried)}. {sum(twin.is_right for *_, twin in rows)} twins RESUME EXACTLY.",
        "",
        "| report | fault | rung | mechanism | line that leads | what was said | patch | as wanted"
        " | twin |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *(_line(*row) for row in rows)]) + "\n"


def _line(case: Case, fault: Said, twin: Said) -> str:
    cells: Iterator[str] = iter(
        (
            case.link,
            case.what,
            fault.rung,
            fault.code,
            f"`{fault.line}`" if fault.line else "",
            fault.where,
            fault.tried,
            "yes" if fault.is_right else "**no**",
            "yes" if twin.is_right else "**no**",
        )
    )
    return f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main())
