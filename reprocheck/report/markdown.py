"""report.md: to paste into an issue.

Whatever stands in logs, paths and arguments cannot break out of its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from reprocheck.model import Check, Run, SourceLine
from reprocheck.report import about, compared, controls, files, repair, static, tables, why, words
from reprocheck.report.next_step import next_command
from reprocheck.report.tables import Table
from reprocheck.report.text import line, tail

_PUNCTUATION = re.compile(r"([\\`*_{}\[\]|~])")
_CALLS = re.compile(r"([@#])(?=\w)")
_BLOCK = re.compile(r"^(?:[-+=#](?=[-=\s]|$)|\d+[.)](?=\s|$))")
_SPAN = re.compile(r"`([^`]*[^`\s][^`]*)`")
"""What our sentences mean as code. A backtick without another stays a character."""


def render(check: Check) -> bytes:
    """report.md."""
    return ("\n".join(_lines(check)).rstrip("\n") + "\n").encode()


def prose(text: str) -> str:
    """Text in one line: what stands between backticks is code, all else is escaped that Markdown,
    HTML or a forge would read as more.
    """
    return _BLOCK.sub(
        lambda found: found[0][:-1] + "\\" + found[0][-1], "".join(_pieces(text, code, _escaped))
    )


def cell(text: str) -> str:
    """`prose` within a table, where a pipe would end the cell even in code."""
    return "".join(_pieces(text, lambda inside: code(inside).replace("|", "\\|"), _escaped))


def summary(text: str) -> str:
    """`prose` within an HTML element, where Markdown is not read."""
    return "".join(_pieces(text, lambda inside: f"<code>{_as_html(inside)}</code>", _as_html))


def _pieces(
    text: str, as_code: Callable[[str], str], as_text: Callable[[str], str]
) -> Iterator[str]:
    """The parts of a sentence, those between backticks as code and those around them as text."""
    for number, piece in enumerate(_SPAN.split(line(text))):
        yield as_code(piece) if number % 2 else as_text(piece)


def _as_html(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return (
        _CALLS.sub(r"\1<!-- -->", text)
        .replace("://", ":<!-- -->//")
        .replace("www.", "www<!-- -->.")
    )


def _escaped(text: str) -> str:
    """Entities and empty comments stand where a backslash would not help: before tags, mentions and
    addresses.
    """
    html = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    html = _CALLS.sub(r"\1<!-- -->", _PUNCTUATION.sub(r"\\\1", html))
    return html.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")


def code(text: str) -> str:
    """A code span in one line."""
    text = line(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def block(text: str, language: str = "text") -> list[str]:
    """A fenced block with a fence longer than any in the text."""
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return [fence + language, *text.split("\n"), fence]


def _lines(check: Check) -> Iterator[str]:
    yield f"## reprocheck: {check.verdict.title}"
    yield from _headline(check)
    yield from _about(check)
    yield from _answer(check)
    yield from _table(_numbers(check))
    yield from _sides(check)
    yield from _why(check)
    yield from _controls(check)
    yield from _compared(check)
    yield from _limits(check)
    for run in check.runs:
        yield from _log(check, run)
    yield from _folded("Environment", _table(tables.environment(check)))
    yield from _folded("Settings", _table(tables.settings(check)))
    reason, command = next_command(check)
    yield from ("### Next", "", prose(reason), "", *block(command, "sh"), "")
    yield f"<sub>reprocheck {prose(check.record.reprocheck_version)}</sub>"


def _headline(check: Check) -> Iterator[str]:
    lead, reason = prose(why.lead(check)), prose(check.verdict.reason)
    yield from ("", f"**{lead or reason}**", "", *((reason, "") if lead else ()))
    yield from (*(prose(sentence) for sentence in words.meaning(check)), "")


def _about(check: Check) -> Iterator[str]:
    """Command, machine and commit: what a reader of an issue asks first."""
    for name, value in about.rows(check):
        yield f"- {name}: {code(value) if name == 'command' else prose(value)}"
    yield ""


def _answer(check: Check) -> Iterator[str]:
    """The best cause, what confirms it, and the one fix."""
    if check.causes:
        yield from _cause(check, 0)
    if check.search:
        yield from (
            f"**{prose(check.search.sentence)}** {prose(check.search.confidence)}".rstrip(),
            "",
        )
    found = repair.best(check)
    if found is not None and found.kind == "patch":
        yield from (f"Patch. {prose(found.said)}", "", *block(found.text, "diff"), "")


def _sides(check: Check) -> Iterator[str]:
    """Of two recordings: what each is, and how their environments differ."""
    if check.between is not None:
        yield from (f"- {name}: {prose(what)}" for name, what in compared.sides(check))
        yield ""
        yield from _section(tables.drift(check))
        for file, diff in compared.diffs(check):
            yield from (f"Source of {code(file)}:", "", *block(diff, "diff"), "")


def _compared(check: Check) -> Iterator[str]:
    """The checks, the losses and the runs."""
    table = tables.checks(check)
    yield from _section(
        table,
        prose(table.note),
        f"Criterion: {code(words.criterion(check))}. {prose(words.moved(check))}".strip(),
    )
    for table in tables.losses(check):
        yield from _section(table, prose(table.note))
    statement = compared.statement(check) if check.between else check.verdict.outcomes.statement
    yield from _section(tables.runs(check), prose(statement))
    if len(check.verdict.outcomes.groups) > 1 and len(check.runs) > 2:
        yield from _section(tables.outcomes(check))


def _limits(check: Check) -> Iterator[str]:
    """What can explain a difference, or limits what is said."""
    if check.between is None:
        yield from _section(tables.environment_differences(check))
    yield from _list("State left by run 1", check.state_left, literal=True)
    yield from _list("Files", files.sentences(check))
    yield from _list("Changed to observe", check.changed_to_observe)
    yield from _list("Caveats", words.caveats(check))
    yield from _list("Coverage", check.coverage)


def _numbers(check: Check) -> Table:
    named = (
        ("largest difference", words.largest(check)),
        ("bitwise", words.bitwise(check)),
        ("first divergence", words.divergence(check)),
    )
    rows = [
        *((name, headline, detail) for name, (headline, detail) in named),
        ("recorded", words.subtitle(check), words.frameworks(check)),
    ]
    return Table(title="", heads=("", "", ""), rows=tuple(rows))


def _why(check: Check) -> Iterator[str]:
    """The ladder, the other causes, and what the source shows."""
    if check.ladder is not None:
        yield from _section(tables.ladder(check.ladder), prose(why.evidence(check)))
    for number in range(1, len(check.causes)):
        yield from _cause(check, number)
    if check.scan is not None:
        yield from _folded(
            summary(static.sentence(check.scan)),
            [static.MEANS, "", *_table(tables.scanned(check.scan))],
        )


def _cause(check: Check, number: int) -> Iterator[str]:
    cause = check.causes[number]
    yield from (
        f"### {'Another possible cause' if number else 'Cause'}: {prose(why.cause_title(cause))}",
        "",
    )
    yield from (f"- {prose(text)}" for text in cause.evidence)
    yield from ("", *_source_line(cause.source))
    fix = repair.of(check, cause)
    if fix is not None:
        yield from (
            ("Fix:", "", *block(fix.text, ""))
            if fix.kind == "code"
            else (f"Fix: {prose(fix.text)}",)
        )
        yield ""


def _controls(check: Check) -> Iterator[str]:
    """The controls that were on, and what the search over them tried."""
    if not controls.any_shown(check):
        return
    yield from _section(tables.controls_on(check))
    if check.search:
        yield from ("### Search over controls", "", *_table(tables.tried(check.search)))
        for text in filter(None, (controls.cost(check.search),)):
            yield from (prose(text), "")
    yield from _section(tables.overridden(check))
    yield from _list(
        "Controls that could not act",
        [f"`{name}`: {text}" for name, text in controls.unavailable(check)],
    )
    yield from _folded("What the controls touched", _table(tables.touched(check)))


def _source_line(source: SourceLine | None) -> Iterator[str]:
    if source is not None:
        yield from (
            code(why.origin(source))
            + (f": {code(source.text.strip())}" if source.text.strip() else ""),
            "",
        )


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
    yield (
        "|"
        + "|".join("--:" if index in table.numeric else "---" for index in range(len(table.heads)))
        + "|"
    )
    for index, row in enumerate(table.rows):
        cells = [cell(text) for text in row]
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
    """The end of the log of a run that did not end well; of every run where nothing was
    recorded.
    """
    if run.record.ended_badly or check.verdict.verdict == "inconclusive":
        for name, text in (
            ("standard error", run.stderr_tail),
            ("standard output", run.stdout_tail),
        ):
            if text.strip():
                yield from _folded(f"Run {run.number}: end of {name}", block(tail(text, 30, 3000)))


def _folded(title: str, lines: Iterator[str] | list[str]) -> Iterator[str]:
    body = list(lines)
    if body:
        yield from (f"<details><summary>{title}</summary>", "", *body, "", "</details>", "")
