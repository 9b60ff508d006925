"""report.md: to paste into an issue.

Whatever stands in logs, paths and arguments cannot break out of its place: a line that is not made
of `Markdown` is escaped where the document is put together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from reprocheck.language import tr
from reprocheck.model import Check, Run, SourceLine
from reprocheck.report import (
    compared,
    controls,
    files,
    provenance,
    repair,
    scan_findings,
    tables,
    why,
    words,
)
from reprocheck.report.next_step import next_command
from reprocheck.report.repair import Repair
from reprocheck.report.tables import Table
from reprocheck.report.text import joined, line, printable, tail

MOST_ITEMS = 50
"""Of a list."""
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]|~])")
_CALLS = re.compile(r"([@#])(?=\w)")
_BLOCK = re.compile(r"^(?:[-+=#](?=[-=\s]|$)|\d+[.)](?=\s|$))")
_SPAN = re.compile(r"`([^`]*[^`\s][^`]*)`")
"""What our sentences mean as code. A backtick without another stays a character."""


class Markdown(str):
    """A piece of Markdown, in which nothing from outside is read as more than text."""


def document(lines: Iterable[str]) -> str:
    """Put lines together; one that is no Markdown is text."""
    return "\n".join(map(safe, lines)).rstrip("\n") + "\n"


def md(template: str, *values: object) -> Markdown:
    """Fill the places of a template of ours; values that are no Markdown are text."""
    return Markdown(template.format(*map(safe, values)))


def say(message: str, /, **values: object) -> Markdown:
    """Say a message with its named places filled, in the language that is spoken; likewise."""
    shown = {
        name: safe(value) if isinstance(value, str) else value for name, value in values.items()
    }
    return Markdown(tr(message, **shown))


def safe(value: object) -> Markdown:
    """Return a value as Markdown: what is none is text."""
    return value if isinstance(value, Markdown) else prose(str(value))


def render(check: Check) -> bytes:
    """report.md."""
    return document(_lines(check)).encode()


def prose(text: str) -> Markdown:
    """Return text in one line: what stands between backticks is code, all else is escaped that
    Markdown, HTML or a forge would read as more.
    """
    shown = "".join(_pieces(text, code, _escaped))
    return Markdown(_BLOCK.sub(lambda found: found[0][:-1] + "\\" + found[0][-1], shown))


def cell(text: str) -> Markdown:
    """`prose` within a table, where a pipe would end the cell even in code."""
    if isinstance(text, Markdown):
        return text
    pieces = _pieces(text, lambda inside: code(inside).replace("|", "\\|"), _escaped)
    return Markdown("".join(pieces))


def summary(text: str) -> Markdown:
    """`prose` within an HTML element, where Markdown is not read."""
    pieces = _pieces(text, lambda inside: f"<code>{_as_html(inside)}</code>", _as_html)
    return Markdown("".join(pieces))


def _pieces(
    text: str, as_code: Callable[[str], str], as_text: Callable[[str], str]
) -> Iterator[str]:
    """Yield the parts of a sentence, those between backticks as code and those around them as
    text.
    """
    for number, piece in enumerate(_SPAN.split(line(text))):
        yield as_code(piece) if number % 2 else as_text(piece)


def _as_html(text: str) -> str:
    """Entities and empty comments stand where a backslash would not help: before tags, mentions and
    addresses.
    """
    html = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    html = _CALLS.sub(r"\1<!-- -->", html)
    return html.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")


def _escaped(text: str) -> str:
    return _as_html(_PUNCTUATION.sub(r"\\\1", text))


def code(text: str) -> Markdown:
    """Return a code span in one line."""
    text = line(text)
    if not text:
        return Markdown()
    fence = "`" * (_longest_fence(text) + 1)
    # A space keeps the text's own backticks apart from the fence; readers take it away again.
    pad = ""
    if "`" in (text[0], text[-1]):
        pad = " "
    return Markdown(f"{fence}{pad}{text}{pad}{fence}")


def block(text: str, language: str = "text") -> list[Markdown]:
    """Return a fenced block with a fence longer than any in the text."""
    text = printable(text)
    fence = "`" * max(3, _longest_fence(text) + 1)
    return [*map(Markdown, (fence + language, *text.split("\n"), fence))]


def _longest_fence(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _lines(check: Check) -> Iterator[str]:
    yield md("## reprocheck: {}", check.verdict.title)
    lead = why.lead(check)
    yield from ("", md("**{}**", lead or check.verdict.reason), "")
    if lead:
        yield from (check.verdict.reason, "")
    yield from (*words.meaning(check), "")
    for name, value in provenance.rows(check):
        shown = {"command": code}.get(name, prose)(value)
        yield say("- {name}: {value}", name=tr(name), value=shown)
    yield ""
    yield from _answer(check)
    yield from pipe_table(_numbers(check))
    yield from _sides(check)
    yield from _why(check)
    yield from _controls(check)
    yield from _compared(check)
    yield from _limits(check)
    for run in check.runs:
        yield from log(check, run)
    yield from folded(tr("Environment"), pipe_table(tables.environment(check)))
    yield from folded(tr("Settings"), pipe_table(tables.settings(check)))
    reason, command = next_command(check)
    yield from (md("### {}", tr("Next")), "", reason, "", *block(command, "sh"), "")
    yield md("<sub>reprocheck {}</sub>", check.record.reprocheck_version)


def _answer(check: Check) -> Iterator[str]:
    """Yield the best cause, what confirms it, and the one fix."""
    if check.causes:
        yield from cause_section(check, 0)
    if check.search:
        sentence, confidence = check.search.sentence, check.search.confidence
        yield from (Markdown(md("**{}** {}", sentence, confidence).rstrip()), "")
    found = repair.best(check)
    if found is not None and found.kind == "patch":
        yield from (say("Patch. {said}", said=found.said), "", *block(found.text, "diff"), "")


def _sides(check: Check) -> Iterator[str]:
    """Yield, of two recordings, what each is, and how their environments differ."""
    if check.between is not None:
        for name, what in compared.sides(check):
            yield say("- {name}: {value}", name=name, value=what)
        yield ""
        yield from section(tables.drift(check))
        for file, diff in compared.diffs(check):
            yield from (say("Source of {file}:", file=code(file)), "", *block(diff, "diff"), "")


def _compared(check: Check) -> Iterator[str]:
    """Yield the checks, the losses and the runs."""
    table = tables.checks(check)
    criterion = say(
        "Criterion: {criterion}. {moved}",
        criterion=code(words.criterion(check)),
        moved=words.moved(check),
    )
    yield from section(table, table.note, Markdown(criterion.strip()))
    for table in (*tables.losses(check), tables.reported(check)):
        yield from section(table, table.note)
    yield from section(tables.runs(check), compared.statement(check))
    several_outcomes = len(check.verdict.outcomes.groups) > 1
    if several_outcomes and len(check.runs) > 2:
        yield from section(tables.outcomes(check))


def _limits(check: Check) -> Iterator[str]:
    """Yield what can explain a difference, or limits what is said."""
    if check.between is None:
        yield from section(tables.environment_differences(check))
    yield from _list(tr("State left by run 1"), check.state_left, literal=True)
    yield from _list(tr("Files"), files.sentences(check))
    yield from _list(tr("Changed to observe"), check.changed_to_observe)
    yield from _list(tr("Caveats"), words.caveats(check))
    yield from _list(tr("Coverage"), check.coverage)


def _numbers(check: Check) -> Table:
    recorded = (tr("recorded"), words.subtitle(check), words.frameworks(check))
    return Table(title="", heads=("", "", ""), rows=(*words.numbers(check), recorded))


def _why(check: Check) -> Iterator[str]:
    """Yield the ladder, the other causes, and what the source shows."""
    if check.ladder is not None:
        yield from section(tables.ladder(check.ladder), why.evidence(check))
        if why.replayed(check):
            yield from (say("`replay.py` {replayed}.", replayed=why.replayed(check)), "")
    for number in range(1, len(check.causes)):
        yield from cause_section(check, number)
    if check.scan is not None:
        yield from folded(
            scan_findings.sentence(check.scan),
            [tr(scan_findings.MEANS), "", *pipe_table(tables.scanned(check.scan))],
        )


def cause_section(check: Check, number: int) -> Iterator[str]:
    """Yield a cause with evidence, line and fix; `number` from 0, the best first."""
    cause = check.causes[number]
    head = tr("Cause")
    if number:
        head = tr("Another possible cause")
    title = say("{name}: {value}", name=head, value=why.cause_title(cause))
    yield from (md("### {}", title), "")
    yield from (md("- {}", text) for text in cause.evidence)
    yield ""
    yield from source_line(cause.source)
    yield from _fix(repair.of(check, cause))


def _fix(fix: Repair | None) -> Iterator[str]:
    if fix is None:
        return
    if fix.kind == "code":
        yield from (tr("Fix:"), "", *block(fix.text, ""), "")
    else:
        yield from (say("Fix: {text}", text=fix.text), "")


def _controls(check: Check) -> Iterator[str]:
    """Yield the controls that were on, and what the search over them tried."""
    if not controls.any_shown(check):
        return
    yield from section(tables.controls_on(check))
    if check.search:
        yield from (
            md("### {}", tr("Search over controls")),
            "",
            *pipe_table(tables.tried(check.search)),
        )
    yield from section(tables.overridden(check))
    yield from _list(
        tr("Controls that could not act"),
        [
            tr("`{name}`: {value}", name=name, value=text)
            for name, text in controls.unavailable(check)
        ],
    )
    yield from folded(tr("What the controls touched"), pipe_table(tables.touched(check)))


def source_line(source: SourceLine | None) -> Iterator[str]:
    """Yield a line of the user's code with its place."""
    if source is not None:
        yield from (Markdown(joined(": ", code(why.origin(source)), code(source.text))), "")


def section(table: Table, *after: str) -> Iterator[str]:
    """Yield a table under its title, and what is said behind it; nothing where it has no rows."""
    if table.rows:
        yield from (md("### {}", table.title), "")
        yield from pipe_table(table)
        for text in filter(None, after):
            yield from (text, "")


def pipe_table(table: Table) -> Iterator[str]:
    """Yield a pipe table; rows that fail or differ are bold in one cell."""
    if not table.rows:
        return
    # numbers stand to the right, all else as it comes
    rules = ("--:" if index in table.numeric else "---" for index in range(len(table.heads)))
    yield row(table.heads)
    yield Markdown(f"|{'|'.join(rules)}|")
    for index, texts in enumerate(table.rows):
        cells = list(map(cell, texts))
        if index in table.marked and cells[table.strong]:
            cells[table.strong] = md("**{}**", cells[table.strong])
        yield row(cells)
    yield ""


def row(texts: Iterable[str]) -> Markdown:
    """Return a row of a pipe table."""
    return Markdown(f"| {' | '.join(map(cell, texts))} |")


def _list(title: str, items: Sequence[str], *, literal: bool = False) -> Iterator[str]:
    if not items:
        return
    show = code if literal else prose
    yield from (md("### {}", title), "")
    yield from (md("- {}", show(item)) for item in items[:MOST_ITEMS])
    if len(items) > MOST_ITEMS:
        yield Markdown(tr("- … and {number:,} more", number=len(items) - MOST_ITEMS))
    yield ""


def log(check: Check, run: Run) -> Iterator[str]:
    """Yield the end of the log of a run that did not end well; of every run where nothing was
    recorded.
    """
    if not run.record.ended_badly and check.verdict.verdict != "inconclusive":
        return
    logs = {tr("standard error"): run.stderr_tail, tr("standard output"): run.stdout_tail}
    for name, text in logs.items():
        if text.strip():
            yield from folded(
                tr("Run {number}: end of {name}", number=run.number, name=name),
                block(tail(text, 30, 3000)),
            )


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines behind a title that opens them; nothing where there are none."""
    body = list(lines)
    if body:
        opened = Markdown(f"<details><summary>{summary(title)}</summary>")
        yield from (opened, "", *body, "", Markdown("</details>"), "")
