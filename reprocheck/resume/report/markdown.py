"""report.md of a check of a resume."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.report import document, provenance
from reprocheck.report.markdown import block, document as joined, md, pipe_table
from reprocheck.resume.model import Outcome, ResumeCheck
from reprocheck.resume.report import rows


def render(check: ResumeCheck) -> bytes:
    """report.md."""
    return joined(_lines(check)).encode()


def _lines(check: ResumeCheck) -> Iterator[str]:
    known = document.facts(check)
    yield md("## reprocheck: {}", check.title)
    yield from (md("{}", provenance.versions(known, check.record.reprocheck_version)), "")
    for outcome in check.outcomes:
        yield from _place(outcome, several=len(check.outcomes) > 1)
    if check.caveats:
        said = (md("- {}", one) for one in check.caveats)
        yield from (md("### Limits"), "", *said, "")
    yield from (*block(rows.command(check), "sh"), "")


def _place(outcome: Outcome, *, several: bool) -> Iterator[str]:
    if several:
        yield from (md("### {}: {}", outcome.place.name, outcome.title), "")
    if outcome.reason:
        yield from (md("**{}**", rows.sentence(outcome.reason)), "")
    for row in rows.facts(outcome):
        if row.code:
            yield from (md("- {}:", row.label), "", *block(row.said, row.language))
        elif row.label:
            yield md("- {}: {}", row.label, row.said)
        else:
            yield md("  {}", row.said)
    yield ""
    yield from pipe_table(rows.losses(outcome))
    if outcome.reported:
        yield from pipe_table(rows.reported(outcome))
    yield from pipe_table(rows.rungs(outcome.explained))
