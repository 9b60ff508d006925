"""What a check of a resume says, as one report of blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reprocheck.model.verdict import TONES
from reprocheck.report import document, provenance
from reprocheck.report.blocks import (
    Block,
    Bullets,
    Chart,
    Code,
    Fact,
    Facts,
    Report,
    Rungs,
    Section,
    Text,
    section,
)
from reprocheck.resume.model import Outcome, ResumeCheck
from reprocheck.resume.report import rows
from reprocheck.resume.report.drawings import DIFFERENCE_TITLE, LOSS_TITLE, Drawing

LADDER = "What the resumed run starts from"
CONFIRM = "Put back what was lost in further runs, which confirms the cause:"
GIVE_OPTION = "Give the script the option that makes it resume:"
AGAIN = "Check again after a change:"


def report(check: ResumeCheck, drawn: tuple[Drawing | None, ...] = ()) -> Report:
    """Return the report of a check of a resume.

    drawn   the charts of each place, in the order of the outcomes; none for a text
    """
    decisive = check.decisive
    charts = dict(zip((outcome.place.name for outcome in check.outcomes), drawn, strict=False))
    drawing = charts.get(decisive.place.name)
    known = document.facts(check)
    others = [outcome for outcome in check.outcomes if outcome is not decisive]
    versions = provenance.versions(known, check.record.reprocheck_version)
    about = provenance.about(rows.command(check), known, versions, check.record.started)
    return Report(
        title=check.title,
        tone=TONES[check.exit_code],
        name=check.record.entry_point.name,
        command=rows.command(check),
        version=check.record.reprocheck_version,
        lead="",
        reasons=tuple(filter(None, [rows.sentence(decisive.reason)])),
        about=about,
        next=_next(check),
        answer=_present(_cause(decisive)),
        details=_present(
            _place(decisive, about),
            _state(decisive),
            _losses(decisive, drawing),
            _series(decisive),
            *(_other_place(one, charts.get(one.place.name), n) for n, one in enumerate(others, 2)),
            section("caveats", "Limits", Bullets(items=check.caveats)) if check.caveats else None,
            section("coverage", "Coverage", Bullets(items=check.coverage), detail=True)
            if check.coverage
            else None,
            section("runs", "Command", Code(text=rows.command(check), language="sh")),
        ),
        rungs=rows.rung_rows(decisive.explained),
        preview=drawing.preview if drawing is not None else "",
    )


def _present(*sections: Section | None) -> tuple[Section, ...]:
    return tuple(section for section in sections if section is not None)


def _next(check: ResumeCheck) -> tuple[str, str]:
    """Return why, and the command to type next."""
    command = rows.next_command(check)
    if not command:
        return AGAIN, rows.command(check)
    if check.decisive.option is not None:
        return GIVE_OPTION, command
    return CONFIRM, command


def _cause(outcome: Outcome) -> Section | None:
    title = "Causes and fixes" if len(outcome.causes) > 1 else "Cause and fix"
    if not outcome.causes:
        title = "Where it differs"
    return section("cause", title, rows.cause_blocks(outcome))


def _place(outcome: Outcome, about: tuple[Fact, ...]) -> Section | None:
    """Return the section on one place: its checkpoint, and what was checked there."""
    facts = rows.checkpoint_facts(outcome)
    own = Facts(facts=facts) if facts else None
    return section("checkpoint", "Checkpoint", own, Facts(facts=about, heads_texts=True))


def _state(outcome: Outcome) -> Section | None:
    """Return the ladder across the gap; None if nothing was compared."""
    if not outcome.explained.rungs:
        return None
    order = Text(
        "The state after the checkpoint in the continued run against what the resumed run starts"
        " from, and then both runs, in execution order. Look at the first rung that differs.",
        "hint",
    )
    return section(
        "ladder", LADDER, order, Rungs(title=LADDER, rows=rows.rung_rows(outcome.explained))
    )


def _losses(outcome: Outcome, drawing: Drawing | None) -> Section | None:
    return section("losses", "Losses", _loss_blocks(outcome, drawing, "losses"))


def _loss_blocks(outcome: Outcome, drawing: Drawing | None, name: str) -> Iterator[Block]:
    """Yield both curves with the gap between them, their difference, and the first losses."""
    if drawing is not None:
        yield Chart(
            id=f"{name}-chart",
            title=LOSS_TITLE,
            svg=drawing.loss,
            lead="The dashed line is the checkpoint: the resumed run starts behind it.",
            live=False,
        )
    if drawing is not None and drawing.difference:
        yield Chart(
            id=f"{name}-difference-chart",
            title=DIFFERENCE_TITLE,
            svg=drawing.difference,
            heading="Difference from the continued run",
            lead="On a logarithmic scale; the bottom line, 0, means equal.",
            live=False,
        )
    yield rows.losses(outcome)


def _series(outcome: Outcome) -> Section | None:
    if not outcome.reported:
        return None
    return section("series", "Series", replace(rows.reported(outcome), captioned=False))


def _other_place(outcome: Outcome, drawing: Drawing | None, number: int) -> Section | None:
    """Return the section on a place that the verdict is not about."""
    title = f"{outcome.place.name}: {outcome.title}"
    return section(f"place-{number}", title, _place_blocks(outcome, drawing, number))


def _place_blocks(outcome: Outcome, drawing: Drawing | None, number: int) -> Iterator[Block]:
    if outcome.reason:
        yield Text(rows.sentence(outcome.reason))
    facts = rows.checkpoint_facts(outcome)
    if facts:
        yield Facts(facts=facts)
    yield from rows.cause_blocks(outcome)
    yield from _loss_blocks(outcome, drawing, f"place-{number}")
    if outcome.reported:
        yield rows.reported(outcome)
    yield rows.rungs(outcome.explained)
