"""`python -m benchmarks.resumes [--only TEXT] [--explain] [--write FILE]`: checks every script of
`resumes.toml`, prints the table; exit 1 if a row is wrong. With `--explain`, what was lost is put
back, too, and a row says what of it was confirmed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus.judging import mindspore_python
from benchmarks.resumes.environments import environment

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"
AT_ONCE = 2
TIMEOUT = 900
RIGHT = "resumes_exactly"
GO_ON = "6"


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A row of `resumes.toml`: a script, and what must be said of it.

    rung, code  the first rung that differs, and the mechanism; "" of a twin without a fault
    lines       texts of the lines that may lead: one of them is in the line that does
    needs       what is installed for it alone, without dependencies
    ranks       how many torchrun starts; 0 of a script that is started by itself
    command     what is run, where the script is a folder
    place       the place that is looked at
    """

    script: str
    verdict: str = RIGHT
    rung: str = ""
    code: str = ""
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    ranks: int = 0
    command: tuple[str, ...] = ("train.py",)
    place: str = "first"

    @property
    def name(self) -> str:
        """The script without its ending: `torch/rng_consumed`."""
        return self.script.removesuffix(".py")

    @property
    def framework(self) -> str:
        """The folder that it lies in."""
        return self.script.partition("/")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What reprocheck said of a script; `where` is the sentence of the first rung that differs,
    `line` the line that leads with its text, `confirmed` the sentence of what was put back, `tried`
    that of the patch.
    """

    script: Script
    verdict: str
    rung: str
    code: str
    where: str = ""
    line: str = ""
    confirmed: str = ""
    tried: str = ""

    @property
    def has_verdict(self) -> bool:
        """Whether the verdict is what must be said."""
        return self.verdict == self.script.verdict

    @property
    def has_code(self) -> bool:
        """Whether rung and mechanism are what must be said."""
        return (self.rung, self.code) == (self.script.rung, self.script.code)

    @property
    def has_line(self) -> bool:
        """Whether the line that leads is one of those that must."""
        return not self.script.lines or any(text in self.line for text in self.script.lines)

    @property
    def is_patched(self) -> bool:
        """Whether a training with the patch resumes exactly."""
        return self.tried.endswith("exactly.")

    @property
    def is_right(self) -> bool:
        """Whether all of that is what must be said."""
        return self.has_verdict and self.has_code and self.has_line


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.resumes", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="scripts whose name has it")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table there, too")
    parser.add_argument("--folder", type=Path, help="keep the report folders in here")
    parser.add_argument("--explain", action="store_true", help="put back what was lost, too")
    parser.add_argument("--jobs", type=int, default=AT_ONCE)
    arguments = parser.parse_args()
    scripts = [one for one in load() if arguments.only in one.script]
    with tempfile.TemporaryDirectory(prefix="resumes-") as scratch:
        folder = arguments.folder or Path(scratch)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            explain = arguments.explain
            rows = list(pool.map(lambda one: _told(judged(one, folder, explain=explain)), scripts))
    page = table(rows)
    print(page)
    if arguments.write is not None:
        arguments.write.write_text(page, encoding="utf-8")
    return int(not all(row.is_right for row in rows))


def load() -> tuple[Script, ...]:
    """All rows, in the order of the file."""
    with (HERE / "resumes.toml").open("rb") as file:
        rows = tomllib.load(file)["script"]
    return tuple(Script(**{**row, **_tuples(row)}) for row in rows)


def _tuples(row: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(row.get(key, ())) for key in ("options", "needs", "lines")}


def judged(
    script: Script,
    folder: Path,
    *,
    scripts: Path = SCRIPTS,
    python: str = "",
    explain: bool = False,
) -> Said:
    """Checks a script as a user does, in a folder of its own; `python`: by another interpreter."""
    work = folder / script.name
    if (scripts / script.script).is_dir():
        shutil.copytree(scripts / script.script, work)
    else:
        work.mkdir(parents=True)
        shutil.copy(scripts / script.script, work / "train.py")
    command = [sys.executable, "-m", "reprocheck", "resume", "--quiet", "--no-draw"]
    command += ["--go-on", GO_ON, *script.options]
    if explain:
        command.append("--explain")
    if script.framework == "mindspore":
        python = mindspore_python()
    if script.needs:
        python = str(environment(script.needs, folder.absolute() / "environments"))
    if python:
        command += ["--python", python]
    if script.place == "first":
        command += ["--at", "first"]
    command += ["--format", "json"]
    if script.ranks:
        torchrun = str(Path(sys.executable).with_name("torchrun"))
        command += ["--", torchrun, "--nproc-per-node", str(script.ranks)]
    command += script.command
    done = subprocess.run(
        command, cwd=work, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return Said(script=script, verdict="no report", rung="", code="", where=done.stderr[-300:])
    places = [one for one in report["places"] if script.place in one["name"].split(" and ")]
    return _said(script, (places or report["places"])[0], work)


def _said(script: Script, place: dict[str, Any], work: Path) -> Said:
    differing = [rung for rung in place["rungs"] if rung["status"] == "differs"]
    first = differing[0] if differing else {"name": "", "detail": place["reason"]}
    mechanism = place["mechanism"] or {"code": ""}
    return Said(
        script=script,
        verdict=place["verdict"],
        rung=first["name"],
        code=mechanism["code"],
        where=first["detail"],
        line=_line_of(mechanism.get("source") or "", work),
        tried=(place.get("patch") or {"sentence": ""})["sentence"],
        confirmed=(place.get("confirmation") or {"sentence": ""})["sentence"],
    )


def _line_of(place: str, work: Path) -> str:
    """`train.py:12: torch.save(state, path)`."""
    name, _, number = place.rpartition(":")
    if not name or not (work / name).is_file():
        return ""
    rows = (work / name).read_text(encoding="utf-8").splitlines()
    return f"{place}: {rows[int(number) - 1].strip()}"


def _told(said: Said) -> Said:
    word = "right" if said.is_right else "WRONG"
    shown = f"{word}: {said.script.name}: {said.verdict}, {said.rung}, {said.code}, {said.line}"
    shown += f": {said.where}"
    shown += f" {said.confirmed}" * bool(said.confirmed)
    print(shown, file=sys.stderr, flush=True)
    return said


def table(rows: Sequence[Said]) -> str:
    """The rows as a page in Markdown."""
    wrong = sum(not row.is_right for row in rows)
    faulty = [row for row in rows if row.script.code]
    frameworks = sorted({row.script.framework for row in rows})
    head = [
        "# Resumes that are planted",
        "",
        "Made by `python -m benchmarks.resumes --write benchmarks/resumes.md`. Each script is"
        " checked with `reprocheck resume` as it stands.",
        "",
        f"{len(rows)} scripts of {', '.join(frameworks)}: {len(faulty)} with a fault, and"
        f" {len(rows) - len(faulty)} that resume as they should although they look suspicious."
        f" {len(rows) - wrong} were told as they should.",
        "",
        "| script | verdict | rung | mechanism | line that leads | what was said | as wanted |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *map(_row, rows)]) + "\n"


def _row(said: Said) -> str:
    cells: Iterable[str] = (
        f"`{said.script.name}`",
        said.verdict.replace("_", " "),
        said.rung,
        said.code,
        f"`{said.line.replace('|', '/')}`" if said.line else "",
        f"{said.where} {said.confirmed}".strip().replace("|", "/").replace("\n", " "),
        "yes" if said.is_right else "**no**",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
