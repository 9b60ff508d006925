"""The table of the fields that may leave, in `docs/reference/bundle.md`: `python -m
reprocheck.redaction.page` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from reprocheck.redaction.fields import MEANS, TABLES

PAGE = Path("docs/reference/bundle.md")
BEGIN, END = "<!-- table of fields -->", "<!-- end of the fields -->"


def table() -> str:
    """Each class of the result model with its fields, by the way in which they leave."""
    return "\n".join([*_ways(), "", "| of | field | leaves |", "|---|---|---|", *_rows()])


def _ways() -> Iterator[str]:
    yield from ("| way | what leaves |", "|---|---|")
    for how, means in MEANS.items():
        yield f"| {how} | {means} |"


def _rows() -> Iterator[str]:
    for kind, ways in chain.from_iterable(table.items() for table in TABLES):
        for how, names in ways.items():
            yield f"| `{kind}` | {', '.join(f'`{name}`' for name in names.split())} | {how} |"


def page(text: str) -> str:
    """The page with its table as the list says it."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    shown = Path(sys.argv[1]) if sys.argv[1:] else PAGE
    shown.write_text(page(shown.read_text(encoding="utf-8")), encoding="utf-8")
