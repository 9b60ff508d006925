"""The page of the catalogue in the documentation: `python -m reprocheck.rules.page > docs/reference/rules.md`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from reprocheck.rules.catalogue import GROUPS, Entry, catalogue
from reprocheck.rules.operators import operator_lists

HEAD = """\
# Rules

<!-- Made from reprocheck/rules by `python -m reprocheck.rules.page`. Change the data there, not this page. -->

The causes that `reprocheck` can name, by code. In the terminal, `reprocheck rules` prints this table and `reprocheck rules CODE` one entry.

A cause in a report carries a confidence: **observed** where the record of the runs shows it, **suspected** where it only fits: by a line of
the source, or as a second reading of the same difference. An operator is never blamed because it is on a list; a list only adds to what the
runs have shown."""


def markdown() -> str:
    """The page."""
    return "\n".join([HEAD, "", *_table(), *(line for entry in catalogue() for line in _section(entry)), *_lists()]) + "\n"


def language(code: str) -> str:
    """`python` for what Python can read, `sh` for commands."""
    try:
        ast.parse(code)
    except SyntaxError:
        return "sh"
    return "python"


def is_code(text: str) -> bool:
    """Whether a fix is code or a command to paste; a sentence otherwise."""
    return "\n" in text or "=" in text or not text.endswith(".")


def _table() -> Iterator[str]:
    yield "| code | name | cause | frameworks |"
    yield "|---|---|---|---|"
    for entry in catalogue():
        yield f"| [{entry.code}](#{entry.code.lower()}) | `{entry.name}` | {entry.title} | {', '.join(entry.frameworks)} |"


def _section(entry: Entry) -> Iterator[str]:
    if entry == next(one for one in catalogue() if one.group == entry.group):
        yield from ("", f"## {GROUPS.index(entry.group)} · {entry.group}")
    yield from ("", f'<a id="{entry.code.lower()}"></a>', f"### {entry.code} {entry.name}", "", f"**{entry.title}.** {entry.why}", "")
    yield f"*Shows:* {entry.shows}"
    yield from ("", f"*Frameworks:* {', '.join(entry.frameworks)} · *devices:* {', '.join(entry.devices)} · *first rung:* {entry.rung}")
    yield from ("", "Has it:", "", *_code(entry.bad), "", "Has not:", "", *_code(entry.good), "", "Fix:", "", *_code(entry.fix))
    for framework, code in entry.fixes.items():
        yield from ("", f"Fix for {framework}:", "", *_code(code))
    if entry.references:
        yield from ("", f"Seen in: {', '.join(entry.references)}.")


def _code(text: str) -> Iterator[str]:
    if not is_code(text):
        yield text
        return
    yield from (f"```{language(text)}", text, "```")


def _lists() -> Iterator[str]:
    yield from ("", "## Lists of operators")
    for source, operators in operator_lists():
        yield from ("", f"### {source.name[:1].upper()}{source.name[1:]}", "", f"From: {source.source} ({source.version}).", "")
        yield from ("| operator | when | devices | in deterministic mode |", "|---|---|---|---|")
        for operator in operators:
            mode = operator.deterministic_mode or "not said"
            yield f"| `{operator.name}` | {operator.when} | {', '.join(operator.devices)} | {mode} |"


if __name__ == "__main__":
    sys.stdout.write(markdown())
