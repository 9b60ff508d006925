"""The result as a Markdown page."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Sequence
from statistics import median

from benchmarks.corpus.judging import Judged

HEAD = (
    "script",
    "loop",
    "expected rung",
    "found rung",
    "place",
    "cause",
    "twin",
    "twin causes",
    "",
)

INTRODUCTION = """\
Every script in `benchmarks/corpus/scripts` is a small training with one planted cause; its twin
(`NAME_fixed.py`) is the same training with the fix applied. `python -m benchmarks.corpus` checks
them all, each in an empty folder, and prints this page; `corpus.toml` there holds what must be
said. A row is right where the verdict, the first differing rung, its place and the first cause are
those expected, of some pairs also the line that the cause cites and its fix, and where the twin is
reproducible in every bit and nothing is blamed in it.
"""


PROOFS = """\
What `reprocheck explain` says of every pair: the smallest set of controls that makes the runs
agree, and how often the script was started, from the command on: until the first differing rung
was known, and until the cause was confirmed; further runs are all after the first two, those with
a patch included. `python -m benchmarks.corpus --explain` prints this part, too. A row is right
where one of the expected controls is found alone and its cause is confirmed, and where nothing is
confirmed in the twin.
"""


def markdown(rows: Sequence[Judged], *, verdicts_only: bool = False) -> str:
    """The page: heading, table, totals."""
    lines = ["# Corpus", "", INTRODUCTION, f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return (
        "\n".join(
            [*lines, "", *totals(rows, verdicts_only=verdicts_only), "", f"Versions: {versions()}."]
        )
        + "\n"
    )


def proofs(rows: Sequence[Judged]) -> str:
    """A second part of the page: the smallest set found for each pair, starts and confirmed cause;
    then the totals.
    """
    heads = (
        *("script", "fixed by", "smallest set", "starts until the rung is known"),
        *("starts until confirmed", "further runs", "cause", ""),
    )
    lines = ["## Explained", "", PROOFS, f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(_proof(row))} |" for row in rows]
    lines += ["", f"Of {len(rows)} pairs {sum(not row.wrong for row in rows)} are right.", ""]
    starts = [row.bad.starts for row in rows if row.bad.rung]
    confirmed = [row.bad.starts for row in rows if is_confirmed(row)]
    lines += _summary("starts until the rung is known", [one.rung for one in starts])
    lines += _summary("starts until confirmed", [one.found for one in confirmed])
    lines += _summary("further runs where confirmed", [one.further for one in confirmed])
    return "\n".join(lines) + "\n"


def is_confirmed(row: Judged) -> bool:
    """Whether a cause of the script is confirmed."""
    return row.bad.confidences[:1] == ("confirmed",)


def _summary(name: str, counts: Sequence[int]) -> list[str]:
    if not counts:
        return []
    return [f"- {name}: median {median(counts):g}, at most {max(counts)}"]


def _proof(row: Judged) -> tuple[str, ...]:
    pair, bad = row.pair, row.bad
    return (
        pair.name,
        "not asked" if pair.fixed_by is None else " or ".join(pair.fixed_by) or "none",
        " + ".join(bad.smallest) or "none",
        str(bad.starts.rung) if bad.rung else "",
        str(bad.starts.found) if is_confirmed(row) else "",
        str(bad.starts.further),
        ", ".join(_causes(bad.codes, bad.confidences)[:1]),
        "right" if not row.wrong else f"**wrong: {', '.join(row.wrong)}**",
    )


def totals(rows: Sequence[Judged], *, verdicts_only: bool = False) -> list[str]:
    """A line for each thing that can be right."""
    everywhere = (
        ("verdict", "twin")
        if verdicts_only
        else ("verdict", "rung", "place", "cause", "twin", "twin causes")
    )
    where = {
        "line": [row for row in rows if row.pair.lines],
        "fix": [row for row in rows if row.pair.fixes],
    }
    asked = dict.fromkeys(everywhere, rows) | ({} if verdicts_only else where)
    lines = [
        f"- {name}: {sum(name not in row.wrong for row in of)} of {len(of)} right"
        for name, of in asked.items()
        if of
    ]
    return [*lines, f"- all of it: {sum(not row.wrong for row in rows)} of {len(rows)} right"]


def _cells(row: Judged) -> tuple[str, ...]:
    pair, bad, twin = row.pair, row.bad, row.twin
    bits = "" if twin.bitwise is not False else ", not in every bit"
    return (
        pair.name,
        pair.loop,
        " or ".join(pair.rungs) or "none",
        bad.rung or f"none ({bad.verdict})",
        bad.place,
        ", ".join(_causes(bad.codes, bad.confidences)[:2]),
        twin.verdict + bits,
        ", ".join(_causes(twin.codes, twin.confidences)),
        "right" if not row.wrong else f"**wrong: {', '.join(row.wrong)}**",
    )


def _causes(codes: Sequence[str], confidences: Sequence[str]) -> list[str]:
    return [f"{code} ({confidence})" for code, confidence in zip(codes, confidences, strict=True)]


def versions() -> str:
    """What it ran with."""
    found = [f"Python {platform.python_version()}"]
    for name in ("torch", "lightning", "tensorflow-cpu", "keras", "jax", "numpy"):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)
