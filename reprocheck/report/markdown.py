"""report.md: to paste into an issue. Whatever stands in logs, paths and arguments cannot break out of its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reprocheck.model import Check, Run, SourceLine
from reprocheck.report import compared, controls, static, tables, why, words
from reprocheck.report.tables import Table
from reprocheck.report.text import line, moment, tail

_PUNCTUATION = re.compile(r"([\\`*_{}\[\]|~])")
_CALLS = re.compile(r"([@#])(?=\w)")
_BLOCK = re.compile(r"^(?:[-+=#](?=[-=\s]|$)|\d+[.)](?=\s|$))")


def render(check: Check) -> bytes:
    """report.md."""
    return ("\n".join(_lines(check)).rstrip("\n") + "\n").encode()


def prose(text: str) -> str:
    """Text in one line with everything escaped that Markdown, HTML or a forge would read as more than text."""
    text = line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _CALLS.sub(r"\1<!-- -->", _PUNCTUATION.sub(r"\\\1", text))
    text = text.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")
    return _BLOCK.sub(lambda found: found[0][:-1] + "\\" + found[0][-1], text)


def code(text: str) -> str:
    """A code span in one line, also within a table."""
    text = line(text).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def block(text: str, language: str = "text") -> list[str]:
    """A fenced block with a fence longer than any in the text."""
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return [fence + language, *text.split("\n"), fence]


def _lines(check: Check) -> Iterator[str]:
    verdict, record = check.verdict, check.record
    yield f"## reprocheck: {verdict.title}"
    if why.lead(check):
        yield from ("", f"**{prose(why.lead(check))}**", "", prose(verdict.reason))
    else:
        yield from ("", f"**{prose(verdict.reason)}**")
    yield from ("", *(prose(sentence) for sentence in words.meaning(check)), "")
    yield from _table(_numbers(check))
    if check.between is not None:
        yield from (f"- {name}: {prose(what)}" for name, what in compared.sides(check))
        yield ""
        yield from _section(tables.drift(check))
    yield from _why(check)
    if check.scan is not None:
        yield from _folded(prose(static.sentence(check.scan)), [static.MEANS, "", *_table(tables.scanned(check.scan))])
    yield from _controls(check)
    table = tables.checks(check)
    yield from _section(table, prose(table.note), f"Criterion: `{words.criterion(check)}`. {prose(words.moved(check))}".strip())
    for table in tables.losses(check):
        yield from _section(table, prose(table.note))
    statement = compared.statement(check) if check.between else verdict.outcomes.statement
    yield from _section(tables.runs(check), prose(statement))
    if len(verdict.outcomes.groups) > 1 and len(check.runs) > 2:
        yield from _section(tables.outcomes(check))
    if check.between is None:
        yield from _section(tables.environment_differences(check))
    yield from _list("State left by run 1", check.state_left, literal=True)
    yield from _list("Changed to observe", check.changed_to_observe)
    yield from _list("Caveats", words.caveats(check))
    yield from _list("Coverage", check.coverage)
    for run in check.runs:
        yield from _log(check, run)
    yield from _folded("Environment", _table(tables.environment(check)))
    yield from _folded("Settings", _table(tables.settings(check)))
    yield from ("### Command", "", *block(words.command(check), "sh"), "")
    reason, command = words.next_command(check)
    yield from ("### Next", "", prose(reason), "", *block(command, "sh"), "")
    yield f"<sub>reprocheck {prose(record.reprocheck_version)}, {prose(moment(record.started))}</sub>"


def _numbers(check: Check) -> Table:
    named = (("largest difference", words.largest(check)), ("bitwise", words.bitwise(check)), ("first divergence", words.divergence(check)))
    rows = [*((name, headline, detail) for name, (headline, detail) in named), ("recorded", words.subtitle(check), words.frameworks(check))]
    return Table(title="", heads=("", "", ""), rows=tuple(rows))


def _why(check: Check) -> Iterator[str]:
    """The ladder, and each cause with its evidence and its fix."""
    if check.ladder is not None:
        yield from _section(tables.ladder(check.ladder), prose(why.evidence(check)))
    for number, cause in enumerate(check.causes):
        yield from (f"### {'Cause' if not number else 'Another possible cause'}: {prose(why.cause_title(cause))}", "")
        yield from (f"- {prose(text)}" for text in cause.evidence)
        yield from ("", *_source_line(cause.source))
        fix = why.fix(cause)
        if fix:
            yield from (("Fix:", "", *block(fix, "")) if why.is_code(fix) else (f"Fix: {prose(fix)}",))
            yield ""


def _controls(check: Check) -> Iterator[str]:
    """The controls that were on, and the search over them."""
    if not controls.any_shown(check):
        return
    yield from _section(tables.controls_on(check))
    if check.search:
        search = check.search
        yield from ("### Search over controls", "", f"**{prose(search.sentence)}** {prose(search.confidence)}".rstrip(), "")
        yield from _table(tables.tried(search))
        for text in filter(None, (controls.cost(search),)):
            yield from (prose(text), "")
        if search.patch:
            yield from (f"Patch. {prose(controls.checked(search))}", "", *block(controls.patch(search), "diff"), "")
    yield from _section(tables.overridden(check))
    yield from _list("Controls that could not act", [f"{name}: {text}" for name, text in controls.unavailable(check)])
    yield from _folded("What the controls touched", _table(tables.touched(check)))


def _source_line(source: SourceLine | None) -> Iterator[str]:
    if source is not None:
        yield from (code(why.origin(source)) + (f": {code(source.text.strip())}" if source.text.strip() else ""), "")


def _section(table: Table, *after: str) -> Iterator[str]:
    if table.rows:
        yield from (f"### {table.title}", "")
        yield from _table(table)
        for text in filter(None, after):
            yield from (text, "")


def _table(table: Table) -> Iterator[str]:
    """A pipe table; rows that fail or differ are bold in one cell."""
    if not table.rows:
        return
    yield "| " + " | ".join(table.heads) + " |"
    yield "|" + "|".join("--:" if index in table.numeric else "---" for index in range(len(table.heads))) + "|"
    for index, row in enumerate(table.rows):
        cells = [prose(cell) for cell in row]
        if index in table.marked and cells[table.strong]:
            cells[table.strong] = f"**{cells[table.strong]}**"
        yield "| " + " | ".join(cells) + " |"
    yield ""


def _list(title: str, items: Sequence[str], *, literal: bool = False) -> Iterator[str]:
    if items:
        yield from (f"### {title}", "")
        yield from (f"- {code(item) if literal else prose(item)}" for item in items[:50])
        if len(items) > 50:
            yield f"- … and {len(items) - 50:,} more"
        yield ""


def _log(check: Check, run: Run) -> Iterator[str]:
    """The end of the log of a run that did not end well; of every run where nothing was recorded."""
    if run.record.ended in ("failed", "timed_out") or check.verdict.verdict == "inconclusive":
        for name, text in (("standard error", run.stderr_tail), ("standard output", run.stdout_tail)):
            if text.strip():
                yield from _folded(f"Run {run.number}: end of {name}", block(tail(text, 30, 3000)))


def _folded(title: str, lines: Iterator[str] | list[str]) -> Iterator[str]:
    body = list(lines)
    if body:
        yield from (f"<details><summary>{title}</summary>", "", *body, "", "</details>", "")
