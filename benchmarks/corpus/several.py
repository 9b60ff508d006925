"""Scripts with several causes: how many of them `reprocheck explain` confirms, at which lines, in
how many starts, and whether the joint patch makes the runs agree.

    python -m benchmarks.corpus.several [--only TEXT] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus.judging import Said, ask, cited
from benchmarks.corpus.pairs import HERE, Pair

AT_ONCE = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """A cause that a script holds: a part of its line, and the codes that are right."""

    line: str
    codes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What `explain` said of a script with several causes.

    confirmed   those of its causes that were confirmed, by line and code
    listed      those that stand in the list of causes at their line, confirmed or not
    false       what was confirmed and is none of its causes
    patched     whether the runs with the joint patch agree; None where none was tried
    """

    name: str
    planted: int
    confirmed: int
    listed: int
    false: tuple[str, ...]
    patched: bool | None
    starts: int

    @property
    def right(self) -> bool:
        """Return whether every cause was confirmed in few enough starts, with its patch."""
        few = self.starts <= 2 * self.planted + 3
        return self.confirmed == self.planted and not self.false and few and bool(self.patched)


def judged(script: Mapping[str, Any], folder: Path) -> Row:
    """Return what `explain` says of one script."""
    path = f"several/{script['name']}.py"
    pair = Pair(
        script=path,
        twin=path,
        loop="",
        verdicts=(),
        rungs=(),
        places=(),
        codes=(),
        python=script.get("python", ""),
    )
    said = ask(pair, path, folder / script["name"], command="explain")
    planted = [Planted(line=one["line"], codes=tuple(one["codes"])) for one in script["cause"]]
    causes: Sequence[Mapping[str, Any]] = said.report.get("causes") or []
    proven = [one for one in causes if one["confidence"] == "confirmed"]
    return Row(
        name=script["name"],
        planted=len(planted),
        confirmed=sum(any(_is(cause, one) for cause in proven) for one in planted),
        listed=sum(any(_is_at(cause, one) for cause in causes) for one in planted),
        false=tuple(
            f"{cause['code']} {cited(cause)}"
            for cause in proven
            if not any(_is(cause, one) for one in planted)
        ),
        patched=_patched(said),
        starts=said.starts.found - said.starts.rung,
    )


def _is_at(cause: Mapping[str, Any], planted: Planted) -> bool:
    return planted.line in cited(cause)


def _is(cause: Mapping[str, Any], planted: Planted) -> bool:
    return _is_at(cause, planted) and cause["code"] in planted.codes


def _patched(said: Said) -> bool | None:
    """Return whether the runs with the joint patch agree."""
    controls = said.report.get("controls") or {}
    fixes = [] if controls.get("smallest") else controls.get("fixes")
    tried = controls.get("tried") or []
    of_fixes = [one["agrees"] for one in tried if fixes and one["fixes"] == fixes]
    agree = [*of_fixes, *(one["agrees"] for one in tried if one.get("patched"))]
    return bool(agree[-1]) if agree else None


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each script, and their sum."""
    yield f"{'script':18} causes confirmed listed starts patch"
    for row in rows:
        patch = {None: "none", True: "agrees", False: "differs"}[row.patched]
        yield (
            f"{row.name:18} {row.planted:6} {row.confirmed:9} {row.listed:6} {row.starts:6}"
            f" {patch:8}{'; '.join(row.false)}"
        )
    planted, confirmed = sum(row.planted for row in rows), sum(row.confirmed for row in rows)
    right = sum(row.right for row in rows)
    yield f"{confirmed} of {planted} causes confirmed; {right} of {len(rows)} scripts wholly right"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus.several")
    parser.add_argument("--only", metavar="TEXT", default="", help="scripts whose name holds TEXT")
    parser.add_argument("--folder", type=Path, help="keep the working folders, with the reports")
    given = parser.parse_args()
    scripts = tomllib.loads((HERE / "several.toml").read_text())["script"]
    chosen = [script for script in scripts if given.only in script["name"]]
    with tempfile.TemporaryDirectory(prefix="several-") as scratch:
        folder = (given.folder or Path(scratch)).resolve()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            rows = list(pool.map(lambda script: judged(script, folder), chosen))
    print("\n".join(table(rows)))
    return int(not all(row.right for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
