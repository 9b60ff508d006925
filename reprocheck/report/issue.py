"""issue.md: the text of an issue, ready to paste, below the length that GitHub takes.

Verdict, where and why first, then what reproduces it; what is long is folded. A section that no
longer fits is left out, and a line says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from reprocheck.language import tr
from reprocheck.model import Check
from reprocheck.report import collect_env, provenance, repair, smallest_command, tables, why, words
from reprocheck.report.document import facts
from reprocheck.report.markdown import (
    block,
    cause_section,
    folded,
    log,
    md,
    pipe_table,
    safe,
    say,
    section,
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
            part = tr("Left out here for its length; it is in the attachment.") + "\n\n"
        kept.append(part)
        left -= len(part)
    return "".join(kept).rstrip("\n") + "\n"


def _parts(check: Check, source: bool) -> Iterator[str]:
    """Yield the sections, each whole, those that matter most first."""
    for lines in (
        _verdict(check),
        _ladder(check),
        _causes(check),
        _reproduce(check, source),
        _losses(check),
        _environment(check),
        _logs(check),
    ):
        joined = "\n".join(_shortened(safe(line)) for line in lines)
        if joined.strip():
            yield f"{joined}\n"


def _shortened(line: str) -> str:
    """Return a line that leaves room for others: a name or a message can be of any length."""
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]}…"


def _verdict(check: Check) -> Iterator[str]:
    numbers = range(1, 2 if check.between is None else 3)
    each = (facts(check, number) for number in numbers)
    versions = (provenance.versions(known, check.record.reprocheck_version) for known in each)
    yield md("### {}", check.verdict.title)
    yield from (md("{}", "; ".join(dict.fromkeys(versions))), "")
    lead = why.lead(check)
    if lead:
        yield from (md("**{}**", lead), "")
    if check.verdict.reason:
        yield from (check.verdict.reason, "")
    for name, headline, detail in words.numbers(check):
        yield say("- {name}: {value} ({detail})", name=name, value=headline, detail=detail)
    yield ""


def _ladder(check: Check) -> Iterable[str]:
    if check.ladder is None:
        return ()
    return section(tables.ladder(check.ladder), why.evidence(check))


def _causes(check: Check) -> Iterator[str]:
    for number in range(min(MOST_CAUSES, len(check.causes))):
        yield from cause_section(check, number)
    found = repair.best(check)
    if found is not None and found.kind == "patch":
        yield from (say("Patch. {said}", said=found.said), "", *block(found.text, "diff"), "")


def _reproduce(check: Check, source: bool) -> Iterator[str]:
    yield from (
        md("### {}", tr("Reproduce")),
        "",
        *block(smallest_command.command(check), "sh"),
        "",
    )
    replayed = check.ladder is not None and check.ladder.replay is not None
    if source:
        yield tr("It takes the script, which is in `source/` of the attachment.")
    else:
        yield tr("It takes the script, which is not in this text.")
    if replayed:
        yield tr("`replay.py` beside the report takes the framework alone: it runs what differs.")
    elif not source:
        yield tr("Ask for `reprocheck bundle --with-source`, which adds the script.")
    yield ""


def _losses(check: Check) -> Iterator[str]:
    for table in tables.losses(check):
        yield from section(table, table.note)


def _environment(check: Check) -> Iterator[str]:
    yield from folded(tr("Environment, as collect_env names it"), block(collect_env.text(check)))
    differing = tables.environment_differences(check)
    if differing.rows:
        yield from (md("### {}", differing.title), "", *pipe_table(differing))


def _logs(check: Check) -> Iterator[str]:
    ends = list(chain.from_iterable(log(check, run) for run in check.runs))
    if not ends and any(run.record.ended_badly for run in check.runs):
        yield tr(
            "The ends of the logs are not in this text: `reprocheck bundle --with-log` adds them."
        )
    yield from ends
