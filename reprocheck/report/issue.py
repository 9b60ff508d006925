"""issue.md: the text of an issue, ready to paste, below the length that GitHub takes.

Verdict, where and why first, then what reproduces it; what is long is folded. A section that no
longer fits is left out, and a line says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.language import tr
from reprocheck.model import Check
from reprocheck.report import (
    causes,
    collect_env,
    environment,
    ladder,
    numbers,
    provenance,
    runs,
    smallest_command,
    words,
)
from reprocheck.report.document import facts
from reprocheck.report.markdown import (
    block,
    folded,
    lines_of,
    md,
    safe,
    section_lines,
)

MOST = 65_536
"""Characters of the body of an issue on GitHub at most."""
ROOM = 1_000
"""Characters left for what the sender writes."""
MOST_CAUSES = 2
LONGEST_LINE = 2_000


def text(check: Check, *, source: bool = False) -> str:
    """Return the whole text, at most `MOST` characters, those that are left to the sender included.

    `source`: the training's files are beside it.
    """
    kept: list[str] = []
    left = MOST - ROOM
    for part in _parts(check, source):
        if len(part) > left:
            part = "Left out here for its length; it is in the attachment.\n\n"
        kept.append(part)
        left -= len(part)
    return "".join(kept).rstrip("\n") + "\n"


def _parts(check: Check, source: bool) -> Iterator[str]:
    """Yield the sections, each complete, the most important first."""
    for lines in (
        _verdict(check),
        section_lines(ladder.ladder(check)),
        _causes(check),
        _reproduce(check, source),
        section_lines(numbers.losses(check)),
        _environment(check),
        _logs(check),
    ):
        joined = "\n".join(_shortened(safe(line)) for line in lines)
        if joined.strip():
            yield f"{joined}\n"


def _shortened(line: str) -> str:
    """Return a line cut to a length that leaves room for other lines."""
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]}…"


def _verdict(check: Check) -> Iterator[str]:
    numbers = range(1, 2 if check.between is None else 3)
    each = (facts(check, number) for number in numbers)
    versions = (provenance.versions(known, check.record.reprocheck_version) for known in each)
    yield md("### {}", check.verdict.title)
    yield from (md("{}", "; ".join(dict.fromkeys(versions))), "")
    lead = ladder.lead(check)
    if lead:
        yield from (md("**{}**", lead), "")
    if check.verdict.reason:
        yield from (check.verdict.reason, "")
    for name, headline, detail in words.numbers(check):
        yield md("- {}: {} ({})", name, headline, detail)
    yield ""


def _causes(check: Check) -> Iterator[str]:
    for cause in check.causes[:MOST_CAUSES]:
        repair = causes.of(check, cause)
        yield from lines_of([causes.panel(check, cause, repair, leads=False)])
    best = causes.best(check)
    if best is not None and best.kind == "patch":
        yield from lines_of([best])


def _reproduce(check: Check, source: bool) -> Iterator[str]:
    yield from (
        md("### {}", tr("Reproduce")),
        "",
        *block(smallest_command.command(check), "sh"),
        "",
    )
    replayed = check.ladder is not None and check.ladder.replay is not None
    if source:
        yield "It takes the script, which is in `source/` of the attachment."
    else:
        yield "It takes the script, which is not in this text."
    if replayed:
        yield "`replay.py` beside the report takes the framework alone: it runs what differs."
    elif not source:
        yield "Ask for `reprocheck bundle --with-source`, which adds the script."
    yield ""


def _environment(check: Check) -> Iterator[str]:
    yield from folded("Environment, as collect_env names it", block(collect_env.text(check)))
    yield from lines_of([environment.differences(check)])


def _logs(check: Check) -> Iterator[str]:
    logs = list(lines_of(runs.logs_of_failed(check)))
    if not logs and any(run.record.ended_badly for run in check.runs):
        yield "The ends of the logs are not in this text: `reprocheck bundle --with-log` adds them."
    yield from logs
