"""`python -m benchmarks.corpus [--explain] [--only TEXT] [--write FILE]`: checks every pair, prints
the table; exit 1 if a row is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.corpus import table
from benchmarks.corpus.judging import Judged, judge, mindspore_python
from benchmarks.corpus.pairs import Pair, load
from benchmarks.corpus.varied import PAGE, SECTION

AT_ONCE = 2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        metavar="TEXT",
        help="pairs whose name contains TEXT; may be repeated",
    )
    parser.add_argument(
        "--write",
        type=Path,
        metavar="FILE",
        help="write the page there too (kept: docs/reference/corpus.md)",
    )
    parser.add_argument(
        "--verdicts",
        action="store_true",
        help="ask for the verdict only (reprocheck run --no-explain)",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="search for the controls that remove each cause (reprocheck explain)",
    )
    parser.add_argument(
        "--jobs", type=int, choices=range(1, AT_ONCE + 1), default=AT_ONCE, help="pairs at once"
    )
    parser.add_argument(
        "--folder", type=Path, help="keep the working folders, with the reports, in here"
    )
    arguments = parser.parse_args()
    pairs = selected(load(), arguments.only)
    with tempfile.TemporaryDirectory(prefix="corpus-") as scratch:
        rows = run(
            pairs,
            (arguments.folder or Path(scratch)).resolve(),
            arguments.jobs,
            verdicts_only=arguments.verdicts,
            explain=arguments.explain,
        )
    page = table.markdown(rows, verdicts_only=arguments.verdicts) + (
        "\n" + table.proofs(rows) if arguments.explain else ""
    )
    print(page)
    if arguments.write is not None:
        others = PAGE.read_text(encoding="utf-8").partition(SECTION)[1:]
        arguments.write.write_text(page + "".join(others), encoding="utf-8")
    return int(any(row.wrong for row in rows))


def selected(pairs: Sequence[Pair], texts: Sequence[str] | None) -> list[Pair]:
    """The pairs asked for; those that need MindSpore only where an interpreter has it."""
    named = [pair for pair in pairs if not texts or any(text in pair.name for text in texts)]
    if not Path(mindspore_python()).exists():
        print(
            "no interpreter with MindSpore: set REPROCHECK_TEST_MINDSPORE_PYTHON", file=sys.stderr
        )
        return [pair for pair in named if pair.python != "mindspore"]
    return named


def run(
    pairs: Sequence[Pair], scratch: Path, jobs: int, *, verdicts_only: bool, explain: bool = False
) -> list[Judged]:
    """All pairs, in their order; progress goes to stderr."""
    options = ["--no-explain"] if verdicts_only else []

    def one(pair: Pair) -> Judged:
        judged = judge(
            pair, scratch / pair.name, options, verdicts_only=verdicts_only, explain=explain
        )
        found = (
            f" ({' + '.join(judged.bad.smallest) or 'nothing'}, {judged.bad.starts.further} further"
            " runs)"
            if explain
            else ""
        )
        print(
            f"{pair.name}: {', '.join(judged.wrong) or 'right'}{found}", file=sys.stderr, flush=True
        )
        return judged

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, pairs))


if __name__ == "__main__":
    sys.exit(main())
