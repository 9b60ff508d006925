"""`python -m benchmarks.resumes.published [--only TEXT] [--write FILE] [--environments DIR]`:
checks each script of `published.toml` with the release that has the fault and with the one that has
not, and prints the table; exit 1 if a row is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.resumes.__main__ import Said, Script, judged
from benchmarks.resumes.environments import environment

HERE = Path(__file__).resolve().parent
FAULTY = "does_not_resume_exactly"
REPORTS = "https://github.com"
NOT_SHOWN = HERE / "not_shown.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A row of `published.toml`.

    report         `owner/name#number`
    before, after  what is installed for the release with the fault, and for the one without it;
                   no `after`: there is no such release
    rung, code     what must be said of the release with the fault
    """

    report: str
    script: str
    before: tuple[str, ...]
    after: tuple[str, ...] = ()
    rung: str
    code: str
    note: str = ""

    @property
    def link(self) -> str:
        """The report as a link in Markdown. GitHub leads from an issue to a pull request."""
        repository, _, number = self.report.partition("#")
        return f"[{self.report}]({REPORTS}/{repository}/issues/{number})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What was said of a fault with both releases."""

    fault: Fault
    before: Said
    after: Said | None

    @property
    def is_right(self) -> bool:
        """Whether both were told as they should."""
        return self.before.is_right and (self.after is None or self.after.is_right)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.resumes.published")
    parser.add_argument("--only", metavar="TEXT", default="", help="scripts whose name has it")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table there, too")
    parser.add_argument("--environments", type=Path, metavar="DIR", help="keep them in here")
    arguments = parser.parse_args()
    faults = [one for one in load() if arguments.only in one.script]
    with tempfile.TemporaryDirectory(prefix="published-") as scratch:
        environments = arguments.environments or Path(scratch, "environments")
        rows = [_row(fault, environments.absolute(), Path(scratch)) for fault in faults]
    page = table(rows)
    print(page)
    if arguments.write is not None:
        arguments.write.write_text(page, encoding="utf-8")
    return int(not all(row.is_right for row in rows))


def load() -> tuple[Fault, ...]:
    """All rows, in the order of the file."""
    with (HERE / "published.toml").open("rb") as file:
        rows = tomllib.load(file)["fault"]
    return tuple(Fault(**{**row, **_tuples(row)}) for row in rows)


def _tuples(row: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(row.get(key, ())) for key in ("before", "after")}


def _row(fault: Fault, environments: Path, scratch: Path) -> Row:
    after = None
    before = _said(fault, fault.before, environments, scratch / "before")
    if fault.after:
        after = _said(fault, fault.after, environments, scratch / "after")
    row = Row(fault=fault, before=before, after=after)
    word = "right" if row.is_right else "WRONG"
    for said in filter(None, (before, after)):
        shown = f"{word}: {fault.script}: {said.verdict}, {said.rung}, {said.code}: {said.where}"
        print(shown, file=sys.stderr, flush=True)
    return row


def _said(fault: Fault, packages: Sequence[str], environments: Path, folder: Path) -> Said:
    wanted = Script(script=fault.script)
    if packages == fault.before:
        wanted = Script(script=fault.script, verdict=FAULTY, rung=fault.rung, code=fault.code)
    python = environment(packages, environments)
    return judged(wanted, folder, scripts=HERE / "scripts", python=str(python))


def table(rows: Sequence[Row]) -> str:
    """The rows as a page in Markdown."""
    right = sum(row.is_right for row in rows)
    head = [
        "# Resumes that libraries broke",
        "",
        "Made by `python -m benchmarks.resumes.published --write benchmarks/resumes_published.md`."
        " It installs each release from the package index, and checks a small script that resumes"
        " as the library describes it.",
        "",
        f"{len(rows)} published reports; {right} were told as they should: by rung and mechanism"
        " with the fault, and RESUMES EXACTLY without it.",
        "",
        "| report | release | verdict | rung | mechanism | what was said | as wanted |",
        "|---|---|---|---|---|---|---|",
    ]
    lines = [line for row in rows for line in _lines(row)]
    return "\n".join([*head, *lines, "", NOT_SHOWN.read_text(encoding="utf-8")])


def _lines(row: Row) -> Iterator[str]:
    fault = row.fault
    note = f" ({fault.note})" if fault.note else ""
    yield _line(f"{fault.link}{note}", fault.before, row.before)
    if row.after is not None:
        yield _line("", fault.after, row.after)


def _line(first: str, packages: Sequence[str], said: Said) -> str:
    cells = (
        first,
        packages[0].replace("==", " "),
        said.verdict.replace("_", " "),
        said.rung,
        said.code,
        said.where.replace("|", "/").replace("\n", " "),
        "yes" if said.is_right else "**no**",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
