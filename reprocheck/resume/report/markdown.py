"""report.md of a check of a resume."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.report.markdown import block, pipe_table, prose
from reprocheck.report.text import line
from reprocheck.resume.model import Outcome, ResumeCheck
from reprocheck.resume.report import rows


def render(check: ResumeCheck) -> bytes:
    """report.md."""
    return ("\n".join(_lines(check)).rstrip("\n") + "\n").encode()


def _lines(check: ResumeCheck) -> Iterator[str]:
    yield from (f"## reprocheck: {check.title}", "")
    for outcome in check.outcomes:
        yield from _place(outcome, several=len(check.outcomes) > 1)
    if check.caveats:
        yield from ("### Limits", "", *(f"- {prose(said)}" for said in check.caveats), "")
    yield from (*block(rows.command(check), "sh"), "")
    yield f"<sub>reprocheck {prose(check.record.reprocheck_version)}</sub>"


def _place(outcome: Outcome, *, several: bool) -> Iterator[str]:
    if several:
        yield from (f"### {prose(outcome.place.name)}: {outcome.title}", "")
    yield from (f"**{prose(rows.sentence(outcome.reason))}**", "")
    for row in rows.facts(outcome):
        if row.code:
            yield from (f"- {row.label}:", "", *block(row.said, row.language))
        else:
            yield f"- {row.label}: {prose(line(row.said))}".replace("- : ", "  ")
    yield ""
    yield from pipe_table(rows.losses(outcome))
    if outcome.reported:
        yield from pipe_table(rows.reported(outcome))
    yield from pipe_table(rows.rungs(outcome.explained))
