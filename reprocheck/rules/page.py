"""The catalogue in the documentation: a table of all entries, and a page for each.

`python -m reprocheck.rules.page docs` writes `docs/reference/rules.md` and `docs/rules/`; without a
folder, the table goes to stdout.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from reprocheck.model.letters import capital
from reprocheck.rules.catalogue import GROUPS, Entry, catalogue
from reprocheck.rules.operators import operator_lists

HEAD = """\
# Rules

<!-- Made from reprocheck/rules by `python -m reprocheck.rules.page docs`.
     Change the data there, not this page. -->

The causes that `reprocheck` can name, by code. In the terminal, `reprocheck rules` prints this
table and `reprocheck rules CODE` one entry.

A cause in a report carries a confidence: **observed** where facts of that very generator, file,
value or operation are in the record of the runs, **suspected** where it only fits: by a line of the
source, or as a second reading of the same difference. An operator is never blamed because it is on
a list; a list only adds to what the runs have shown.

Where a severity stands, [`reprocheck scan`](scan.md) finds the cause in source code: an *error*
changes results from run to run, a *warning* can, a *note* is worth knowing. *fix* says that
`reprocheck scan --fix` fixes it.

Each code leads to its page: what it is, what shows it, code that has it and code that has not, and
the fix."""
SAYS = {
    "error": "**error**: it changes results from run to run",
    "warning": "**warning**: it can change results from run to run",
    "note": "**note**: worth knowing",
}


def markdown() -> str:
    """The table of all entries, and the lists of operators."""
    return "\n".join([HEAD, *_tables(), *_lists()]) + "\n"


def pages() -> Mapping[str, str]:
    """The pages of `docs/rules/` by file name, one for each entry."""
    return {f"{entry.code}.md": "\n".join(_page(entry)) + "\n" for entry in catalogue()}


def write(docs: Path) -> None:
    """Writes all pages below a documentation folder, and removes those of entries that are gone."""
    (docs / "reference" / "rules.md").write_text(markdown(), encoding="utf-8")
    folder = docs / "rules"
    folder.mkdir(exist_ok=True)
    made = pages()
    for path in folder.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


def language(code: str) -> str:
    """`python` for what Python can read, `sh` for commands."""
    try:
        ast.parse(code)
    except SyntaxError:
        return "sh"
    return "python"


def is_code(text: str) -> bool:
    """Whether a fix is code or a command to paste; a sentence otherwise."""
    return "\n" in text or "=" in text or not text.endswith((".", "。"))


def _tables() -> Iterator[str]:
    """A table for each group of entries."""
    for number, group in enumerate(GROUPS):
        yield from ("", f"## {number} · {group}", "")
        yield "| code | name | cause | frameworks | scan |"
        yield "|---|---|---|---|---|"
        yield from (_row(entry) for entry in catalogue() if entry.group == group)


def _row(entry: Entry) -> str:
    found = f"{entry.severity}, fix" if entry.patch else entry.severity
    scan = found if entry.scan else ""
    frameworks = ", ".join(entry.frameworks)
    link = f"[{entry.code}](../rules/{entry.code}.md)"
    return f"| {link} | `{entry.name}` | {entry.title} | {frameworks} | {scan} |"


def _page(entry: Entry) -> Iterator[str]:
    """The page of one entry."""
    yield f"# {entry.code} {entry.name}"
    yield from (
        "",
        "<!-- Made from reprocheck/rules by `python -m reprocheck.rules.page docs`.",
        "     Change the data there, not this page. -->",
        "",
    )
    yield from _body(entry)
    if entry.scan:
        yield from (
            "",
            "Where it is meant, say so in the line or in the first line of its statement:",
            "",
        )
        yield from ("```python", f"...  # reprocheck: ignore[{entry.code}] the reason", "```")
    yield from (
        "",
        (
            "[All rules](../reference/rules.md) · [the scan](../reference/scan.md) · group"
            f" {entry.group}"
        ),
    )


def _body(entry: Entry) -> Iterator[str]:
    yield from (f"**{entry.title}.** {entry.why}", "", f"*Shows:* {entry.shows}")
    yield from (
        "",
        (
            f"*Frameworks:* {', '.join(entry.frameworks)} · *devices:* {', '.join(entry.devices)} ·"
            f" *first rung:* {entry.rung}"
        ),
    )
    if entry.scan:
        fixes = "; `--fix` fixes it" if entry.patch else ""
        yield from ("", f"*`reprocheck scan`:* {SAYS[entry.severity]}{fixes}.")
    else:
        yield from ("", "*`reprocheck scan`:* does not find it; a run shows it.")
    yield from (
        "",
        "Has it:",
        "",
        *_code(entry.bad),
        "",
        "Has not:",
        "",
        *_code(entry.good),
        "",
        "Fix:",
        "",
        *_code(entry.fix),
    )
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
        yield from (
            "",
            f"### {capital(source.name)}",
            "",
            f"From: {source.source} ({source.version}).",
            "",
        )
        yield from ("| operator | when | devices | in deterministic mode |", "|---|---|---|---|")
        for operator in operators:
            mode = operator.deterministic_mode or "not said"
            yield (
                f"| `{operator.name}` | {operator.when} | {', '.join(operator.devices)} | {mode} |"
            )


if __name__ == "__main__":
    if sys.argv[1:]:
        write(Path(sys.argv[1]))
    else:
        sys.stdout.write(markdown())
