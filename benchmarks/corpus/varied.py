"""Scripts that agree with themselves on one machine and depend on what is other on the next one:
whether `run --vary` names the variation and the line, in how many pairs, and leaves the twin alone.

    python -m benchmarks.corpus.varied [--only TEXT] [--folder FOLDER] [--write]
    python -m benchmarks.corpus.varied --intermittent
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus.judging import ROOT, Said, ask, cited
from benchmarks.corpus.pairs import HERE, Pair
from reprocheck.settings import variations

AT_ONCE = 2
PAGE = ROOT / "docs" / "reference" / "corpus.md"
SECTION = "\n## Varied runs\n"
ABOUT = """
Each script agrees with itself in every bit in an ordinary check, and depends on something that is
other on another machine or on another day; its twin does not. `python -m benchmarks.corpus.varied
--write` checks them with `run` and with `run --vary`. A row is right where the ordinary check
passes, the varied one names the planted variation alone and its line, and the twin passes under
all variations. *Pairs* are those that the search made after the first one: until it had the
variation, and in all."""
PLAIN_RUNS, VARIED_CHECKS = 21, 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A row of `varied.toml`; its head says what each field means."""

    name: str
    variation: str
    line: str = ""
    python: str = ""
    intermittent: bool = False

    @property
    def pair(self) -> Pair:
        """Return the script and its twin as a pair of the corpus, without expectations."""
        return Pair(
            script=f"varied/{self.name}.py",
            twin=f"varied/{self.name}_fixed.py",
            loop="",
            verdicts=(),
            rungs=(),
            places=(),
            codes=(),
            python=self.python,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What reprocheck said of a script and of its twin.

    passes   whether the ordinary check passes in every bit
    found    the variations on which the script depends, as `run --vary` says
    line     the text of the line that it names
    named    how many pairs the search made until it had the variation
    pairs    how many it made in all, with those that try the others
    twin     whether the twin passes under all variations, in every bit
    """

    script: Script
    passes: bool
    found: tuple[str, ...]
    line: str
    named: int
    pairs: int
    twin: bool

    @property
    def wrong(self) -> tuple[str, ...]:
        """Return what of it is wrong, in words."""
        right = {
            "ordinary check": self.passes,
            "variation": self.found == (self.script.variation,),
            "line": self.script.line in self.line,
            "twin": self.twin,
        }
        return tuple(name for name, is_right in right.items() if not is_right)


def load() -> tuple[Script, ...]:
    """Return all scripts, in the order of the file."""
    rows = tomllib.loads((HERE / "varied.toml").read_text(encoding="utf-8"))["script"]
    return tuple(Script(**row) for row in rows)


def judged(script: Script, folder: Path) -> Row:
    """Check a script without and with variations, and its twin with them."""
    plain = _ask(script, script.pair.script, folder / "plain", "--no-explain")
    varied = _ask(script, script.pair.script, folder / "varied", "--vary")
    twin = _ask(script, script.pair.twin, folder / "twin", "--vary")
    found: dict[str, Any] = varied.report.get("variations") or {}
    guilty = found.get("guilty") or []
    tried = [tuple(one["varied"]) for one in found.get("tried") or ()]
    alone = [number for number, names in enumerate(tried, 1) if names == (script.variation,)]
    return Row(
        script=script,
        passes=_passes(plain),
        found=tuple(one["name"] for one in guilty),
        line=cited(guilty[0]) if guilty else "",
        named=next(iter(alone), 0),
        pairs=len(tried),
        twin=_passes(twin),
    )


def _told(row: Row) -> Row:
    print(f"{row.script.name}: {', '.join(row.wrong) or 'right'}", file=sys.stderr, flush=True)
    return row


def _ask(script: Script, path: str, folder: Path, *options: str) -> Said:
    """Run a check with a home folder that holds what an earlier training left."""
    home = folder.with_name(f"{folder.name}-home")
    (home / ".training").mkdir(parents=True, exist_ok=True)
    (home / ".training" / "scale.txt").write_text("2.5\n")
    variables = {"HOME": str(home), "LC_ALL": "C.UTF-8"}
    return ask(script.pair, path, folder, options, variables=variables)


def _passes(said: Said) -> bool:
    return said.verdict == "REPRODUCIBLE" and said.bitwise is True


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the section of the page."""
    yield from (SECTION.strip(), ABOUT.strip("\n"), "")
    yield "| script | depends on | ordinary check | found | line | pairs | twin |  |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        cells = (
            row.script.name,
            row.script.variation,
            "passes" if row.passes else "fails",
            ", ".join(row.found) or "nothing",
            f"`{row.line}`" if row.line else "not seen",
            f"{row.named} of {row.pairs}",
            "passes" if row.twin else "fails",
            f"**wrong: {', '.join(row.wrong)}**" if row.wrong else "right",
        )
        yield f"| {' | '.join(cells)} |"
    size = sum(row.default for row in variations.table())
    most = 2 + math.ceil(math.log2(size))
    right = sum(not row.wrong for row in rows)
    few = sum(0 < row.named <= most for row in rows)
    yield from ("", f"- right: {right} of {len(rows)}")
    yield f"- named in at most {most} pairs (2 + log2 of {size} variations): {few} of {len(rows)}"


def intermittent(script: Script, folder: Path) -> str:
    """Return a line: how often plain runs differ, and how often one varied pair does."""
    options = ("--no-explain", "--runs", str(PLAIN_RUNS))
    plain = _ask(script, script.pair.script, folder / "plain", *options)
    groups = plain.report["outcomes"]["groups"]
    most = max(map(len, groups))
    failed = 0
    for number in range(VARIED_CHECKS):
        said = _ask(
            script, script.pair.script, folder / f"varied-{number}", "--vary", "--no-explain"
        )
        failed += said.bitwise is False
    return (
        f"| {script.name} | {script.variation} | {PLAIN_RUNS - most} of {PLAIN_RUNS} |"
        f" {failed} of {VARIED_CHECKS} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus.varied")
    parser.add_argument("--only", metavar="TEXT", default="", help="scripts whose name holds TEXT")
    parser.add_argument("--folder", type=Path, help="keep the working folders, with the reports")
    parser.add_argument("--write", action="store_true", help="write the section of the page, too")
    parser.add_argument("--intermittent", action="store_true", help="measure those alone")
    given = parser.parse_args()
    chosen = [
        script
        for script in load()
        if given.only in script.name and script.intermittent == given.intermittent
    ]
    with tempfile.TemporaryDirectory(prefix="varied-") as scratch:
        folder = (given.folder or Path(scratch)).resolve()
        if given.intermittent:
            for script in chosen:  # one at a time: their order depends on the load
                print(intermittent(script, folder / script.name), flush=True)
            return 0
        with ThreadPoolExecutor(AT_ONCE) as pool:
            rows = list(
                pool.map(lambda script: _told(judged(script, folder / script.name)), chosen)
            )
    text = "\n".join(table(rows))
    print(text)
    if given.write:
        before = PAGE.read_text(encoding="utf-8").partition(SECTION)[0]
        PAGE.write_text(f"{before}\n{text}\n", encoding="utf-8")
    return int(any(row.wrong for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
