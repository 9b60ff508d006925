"""The parts of the documentation that are made from the code: `python .ci/pages.py` writes them.

docs/reference/rules.md, docs/rules/   the catalogue of causes
docs/reference/ladder.md               the list of what rungs show
docs/reference/controls.md             what each control does
docs/reference/vary.md                  what each variation changes
docs/reference/must-differ.md           which seeds are seen and changed
docs/reference/relations.md             a row for each relation
docs/reference/frameworks.md           the table of controls and frameworks
docs/reference/bundle.md               the table of the fields that may leave
docs/reference/files.md                the index of the files of the package
reprocheck/cli/help.txt                what `--help` of each command prints
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from itertools import chain, groupby, takewhile
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import get_args

from reprocheck.cli import help_pages
from reprocheck.language.letters import capital
from reprocheck.model import evidence
from reprocheck.redaction.fields import EACH, TABLES
from reprocheck.rules import catalogue, operator_lists
from reprocheck.rules.catalogue import GROUPS, Entry
from reprocheck.rules.fix_text import is_code, language
from reprocheck.settings import controls, must_differ, variations
from reprocheck.settings.controls import Control
from reprocheck.settings.relations import Relation, relations

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def pages(docs: Path = DOCS) -> Mapping[Path, str]:
    """Return all of them, by their paths."""
    ladder = docs / "reference" / "ladder.md"
    ladder_text = ladder.read_text(encoding="utf-8").partition(RUNGS)[0] + rungs_section()
    between = {
        docs / "reference" / "bundle.md": ("fields", fields_table()),
        docs / "reference" / "controls.md": ("controls", controls_sections()),
        docs / "reference" / "frameworks.md": ("controls", controls_table()),
        docs / "reference" / "vary.md": ("variations", variations_sections()),
        docs / "reference" / "must-differ.md": ("seeds", must_differ_section()),
        docs / "reference" / "relations.md": ("relations", relations_table()),
    }
    return {
        ladder: ladder_text,
        **{path: _between(path, *made) for path, made in between.items()},
        docs / "reference" / "files.md": files_page(),
        docs / "reference" / "rules.md": rules_page(),
        **{docs / "rules" / f"{entry.code}.md": rule_page(entry) for entry in catalogue()},
    }


def _between(path: Path, of: str, made: str) -> str:
    """Return the text of a file, with what is made between two comments: `table of fields`, `end of
    the fields`.
    """
    begin, end = f"<!-- table of {of} -->", f"<!-- end of the {of} -->"
    text = path.read_text(encoding="utf-8")
    assert text.count(begin) == text.count(end) == 1, f"{path.name}: {begin} and {end}, once each"
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{made}\n{end}{rest.partition(end)[2]}"


def write(docs: Path = DOCS) -> None:
    """Write them, and remove the pages of entries that are gone."""
    made = pages(docs)
    for path in (docs / "rules").glob("*.md"):
        if path not in made:
            path.unlink()
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    Path(help_pages.FILE).write_text(help_pages.by_parser(), encoding="utf-8")


# ------------------------------------------------------------------------------- the catalogue

RULES_HEAD = """\
# Rules

<!-- Made from reprocheck/rules by `python .ci/pages.py`.
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


def rules_page() -> str:
    """Return the table of all entries, and the lists of operators."""
    return "\n".join([RULES_HEAD, *_tables(), *_lists()]) + "\n"


def rule_page(entry: Entry) -> str:
    """Return the page of one entry."""
    return "\n".join(_page(entry)) + "\n"


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
        "<!-- Made from reprocheck/rules by `python .ci/pages.py`.",
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


# ------------------------------------------------------------------------------- the ladder

RUNGS = "## What a rung shows\n"
RUNGS_HEAD = """\
`evidence` of a rung of `check.ladder` in Python is one of these classes of
`reprocheck.model.evidence`, by the kind of the difference. It is None where the sentence says it
all. `measured`, `operator` and `generators` of the rung are in the second table.
"""
RUNG_PARTS = (
    evidence.Measured,
    evidence.OperatorDiffers,
    evidence.Generators,
    evidence.Generator,
    evidence.SeededLater,
    evidence.Loaded,
)


def rungs_section() -> str:
    """Return the last section of `docs/reference/ladder.md`, of the classes of `model.evidence`."""
    kinds = "\n".join(_class_rows(get_args(evidence.Evidence)))
    parts = "\n".join(_class_rows(RUNG_PARTS))
    head = "| class | field | |\n|---|---|---|"
    return f"{RUNGS}{RUNGS_HEAD}\n{head}\n{kinds}\n\n{head}\n{parts}\n"


def _class_rows(classes: tuple[type, ...]) -> Iterator[str]:
    for one in classes:
        yield f"| `{one.__name__}` | | {_line(inspect.getdoc(one) or '')} |"
        for name, text in _fields(one):
            yield f"| | `{name}` | {_line(text)} |"


def _fields(of: type) -> Iterator[tuple[str, str]]:
    """The fields of a class with their docstrings, which Python itself does not keep."""
    (body,) = ast.parse(inspect.getsource(of)).body
    assert isinstance(body, ast.ClassDef)
    for field, doc in zip(body.body, body.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        assert isinstance(doc, ast.Expr), f"{of.__name__}.{field.target.id} has no docstring"
        assert isinstance(doc.value, ast.Constant)
        yield field.target.id, str(doc.value.value)


def _line(text: str) -> str:
    """A docstring on one line of a table."""
    return " ".join(text.split()).replace("|", "\\|")


# ------------------------------------------------------------------------------- the controls

COLUMNS = {
    "python": "Python",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "torch_npu": "torch_npu",
    "mindspore": "MindSpore",
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "jax": "JAX",
}
"""Where a control may act, in the order of the columns."""


def controls_sections() -> str:
    """Return a section for each class of controls, and in it one for each control."""
    lines: list[str] = []
    for of_class, members in groupby(controls.table(), attrgetter("control_class")):
        lines += ["", f"## {capital(of_class)}"]
        lines += chain.from_iterable(map(_control, members))
    return "\n".join([*lines[1:], ""])


def _control(one: Control) -> Iterator[str]:
    yield from ("", f"### `{one.name}`", one.does, "", "| where | what it does |", "|---|---|")
    yield from (f"| {COLUMNS[name]} | {does} |" for name, does in one.frameworks.items())
    if one.environment:
        variables = (f"`{name}={value}`" for name, value in one.environment.items())
        yield from ("", f"Set before the start: {', '.join(variables)}.")
    if one.accepts:
        others = (f"`{name}={value}`" for name, values in one.accepts.items() for value in values)
        yield from ("", f"As good: {', '.join(others)}.")
    yield from ("", f"- Cost: {one.cost}", f"- Limits: {one.limits}", f"- Source: {one.source}")


def must_differ_section() -> str:
    """Return the table of what is seen and changed, by framework."""
    (row,) = must_differ.table()
    lines = ["| where | what seeds |", "|---|---|"]
    lines += [f"| {COLUMNS[name]} | {what} |" for name, what in row.frameworks.items()]
    return "\n".join([*lines, "", f"- Limits: {row.limits}", f"- Source: {row.source}", ""])


def variations_sections() -> str:
    """Return a section for each variation, those of the default set first."""
    return "\n".join(chain.from_iterable(map(_variation, variations.table())))


def _variation(one: variations.Variation) -> Iterator[str]:
    yield from (f"### `{one.name}`", one.does, "", "| where | what is varied |", "|---|---|")
    yield from (f"| {COLUMNS[name]} | {does} |" for name, does in one.frameworks.items())
    variables = ", ".join(f"`{name}={value}`" for name, value in one.environment.items())
    facts = {
        "Default set": "yes" if one.default else "no: on request alone",
        "Variables": variables.replace("{", "").replace("}", ""),
        "Control": f"[`{one.control}`](controls.md#{one.control})" if one.control else "",
        "Limits": one.limits,
        "Source": one.source,
    }
    yield from ("", *(f"- {name}: {fact}" for name, fact in facts.items() if fact), "")


PAGE_OF = {"control": "controls", "variation": "vary"}
"""Kind of a relation -> the page that has a section of its name."""


def relations_table() -> str:
    """Return a row for each relation."""
    head = "| relation | kind | what it changes | expects | of | class | frameworks | runs |"
    return "\n".join([head, "|" + "---|" * 8, *map(_relation_row, relations())])


def _relation_row(one: Relation) -> str:
    name = f"`{one.name}`"
    if one.kind in PAGE_OF:
        name = f"[{name}]({PAGE_OF[one.kind]}.md#{one.name})"
    frameworks = ", ".join(COLUMNS.get(framework, framework) for framework in one.frameworks)
    cells = (name, one.kind, one.does, one.expects, one.facts, one.changes, frameworks)
    return f"| {' | '.join(cells)} | {one.starts} |"


def controls_table() -> str:
    """Return a row for each control: the frameworks in which it acts."""
    head = f"| control | {' | '.join(COLUMNS.values())} |\n|{'---|' * (len(COLUMNS) + 1)}"
    return "\n".join([head, *map(_controls_row, controls.table())])


def _controls_row(one: Control) -> str:
    cells = ("yes" if name in one.frameworks else "–" for name in COLUMNS)
    return f"| `{one.name}` | {' | '.join(cells)} |"


# ------------------------------------------------------------------------------- the fields


def fields_table() -> str:
    """Return each class of the result model with its fields, by the way in which they leave."""
    return "\n".join([*_ways(), "", "| of | field | leaves |", "|---|---|---|", *_field_rows()])


def _ways() -> Iterator[str]:
    yield from ("| way | what leaves |", "|---|---|")
    for how, means in TABLES.means.items():
        yield f"| {how} | {means} |"


def _field_rows() -> Iterator[str]:
    for kind, ways in chain.from_iterable(table.items() for table in EACH):
        for how, names in ways.items():
            yield f"| `{kind}` | {', '.join(f'`{name}`' for name in names)} | {how} |"


# ------------------------------------------------------------------------------- the index of files

FILES_HEAD = """\
# Index of files

<!-- Made from the docstrings by `python .ci/pages.py`.
     Change the docstring there, not this page. -->

Each file of the package, with the first sentences of its docstring. What the folders are for stands
in the [architecture](../architecture.md)."""


def files_page() -> str:
    """Return the index: a table for each folder that holds files of Python, and one for `.ci/`."""
    return "\n".join([FILES_HEAD, *chain.from_iterable(_folder(one) for one in _folders())]) + "\n"


def _folders() -> Iterator[Path]:
    """Yield `.ci/` and the folders of the package."""
    package = ROOT / "reprocheck"
    yield from sorted({package, *(file.parent for file in package.rglob("*.py"))})
    yield ROOT / ".ci"


def _folder(folder: Path) -> Iterator[str]:
    files = [(file.name, text) for file in sorted(folder.iterdir()) if (text := _about(file))]
    if files:
        yield from (
            "",
            f"## {folder.relative_to(ROOT)}/",
            "",
            "| file | what it is for |",
            "|---|---|",
        )
        yield from (f"| `{name}` | {_without_links(_line(text))} |" for name, text in files)


def _without_links(text: str) -> str:
    """Return a text in which brackets are no links; those in code are none."""
    parts = text.split("`")
    parts[::2] = [part.replace("[", "\\[") for part in parts[::2]]
    return "`".join(parts)


def _about(file: Path) -> str:
    """Return the first paragraph of what a file says of itself; "" where it says nothing."""
    if not file.is_file():
        return ""
    if file.suffix == ".py":
        docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        return docstring.partition("\n\n")[0]
    if file.suffix or ".ci" not in file.parts:
        return ""
    lines = file.read_text(encoding="utf-8").removeprefix("#!/usr/bin/env bash\n").splitlines()
    comment = takewhile(methodcaller("startswith", "#"), lines)
    return " ".join(line.removeprefix("#").strip() for line in comment)


if __name__ == "__main__":
    write()
