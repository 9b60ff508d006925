"""The causes of a check, each with what to do, in blocks and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reprocheck import rules
from reprocheck.language import mark, tr
from reprocheck.model import Cause, Check, Confidence
from reprocheck.report import controls, ladder
from reprocheck.report.blocks import (
    Block,
    CausePanel,
    Repair,
    RuleEntry,
    Section,
    Source,
    Text,
    section,
)
from reprocheck.report.text import joined, line, origin, printable
from reprocheck.rules import Entry
from reprocheck.wording.fixes import translated

CONFIDENCE: Mapping[Confidence, str] = {
    "observed": mark("the recorded runs show it"),
    "confirmed": mark("a control removes the difference"),
    "suspected": mark("a rule fits, the runs do not show it"),
}

MOST_ENTRIES = 6
"""Entries of the catalogue on a page at most."""


def cause_and_fix(check: Check) -> Section | None:
    """Return the best cause, or all confirmed ones, with the fix.

    None if there is neither a cause nor a search.
    """
    first = leading(check)
    titles = {0: tr("What was tried"), 1: tr("Cause and fix")}
    title = titles.get(len(first), tr("Causes and fixes"))
    return section("cause", title, _answer(check, first))


def leading(check: Check) -> tuple[Cause, ...]:
    """Return the causes that are named first: the confirmed ones, else the best."""
    confirmed = tuple(cause for cause in check.causes if cause.confidence == "confirmed")
    return confirmed or check.causes[:1]


def _answer(check: Check, first: Sequence[Cause]) -> Iterator[Block]:
    search = check.search
    confirmed = bool(first) and first[0].confidence == "confirmed"
    if search is not None and not confirmed:
        yield Text(search.sentence, "lead")
    best_repair = best(check)
    single = len(first) == 1
    for number, cause in enumerate(first):
        repair = of(check, cause)
        if repair is None and number == 0 and single:
            repair = best_repair
        yield panel(check, cause, repair, leads=number == 0)
    has_patch = best_repair is not None and best_repair.kind == "patch"
    if has_patch and not (single and of(check, first[0]) is None):
        yield from filter(None, [best_repair])


def others(check: Check) -> Section | None:
    """Return the causes that are not named first; None if there are none."""
    first = leading(check)
    causes = [cause for cause in check.causes if cause not in first]
    title = tr("Another possible cause")
    if len(causes) > 1:
        title = tr("Other possible causes")
    panels = (panel(check, cause, of(check, cause), leads=False) for cause in causes)
    return section("causes", title, panels)


def panel(check: Check, cause: Cause, repair: Repair | None, *, leads: bool) -> CausePanel:
    """Return a cause as a block; `leads`: whether the cause is named first."""
    rung = check.leading
    heading = tr("Cause")
    if cause not in leading(check):
        heading = tr("Another possible cause")
    return CausePanel(
        heading=heading,
        code=cause.code,
        title=cause.title,
        confidence=cause.confidence,
        badge=tr(cause.confidence),
        means=tr(CONFIDENCE[cause.confidence]),
        evidence=tuple(cause.evidence),
        sources=() if cause.source is None else (Source(cause.source),),
        repair=repair,
        known=cause.code in cited_codes(check),
        rung=rung.rung if leads and rung is not None else "",
    )


def best(check: Check) -> Repair | None:
    """Return the fix of a check: the patch that was tried, else the advice of the best cause.

    None if there is neither.
    """
    search = check.search
    if search is not None and search.patch:
        patch, known = controls.patch(search), controls.checked(search)
        return Repair(kind="patch", text=patch, said=known, language="diff")
    if not check.causes:
        return None
    return of(check, check.causes[0])


def of(check: Check, cause: Cause) -> Repair | None:
    """Return the fix shown with a cause; None for a confirmed cause if a patch was found."""
    if cause.confidence == "confirmed" and check.search is not None and check.search.patch:
        return None
    return own_fix(cause)


def own_fix(cause: Cause) -> Repair | None:
    """Return the advice of a cause itself; None if it has none."""
    text = fix(cause)
    if not text:
        return None
    if is_code(text):
        return Repair(kind="code", text=text)
    return Repair(kind="words", text=text)


def cause_title(cause: Cause) -> str:
    """Return the title of a cause: `R101 Dropout without a seed (observed)`."""
    return tr(
        "{code} {title} ({confidence})",
        code=line(cause.code),
        title=line(cause.title),
        confidence=tr(cause.confidence),
    )


def fix(cause: Cause) -> str:
    """Return the text of a fix, printable, with its line breaks and indents."""
    return printable(cause.fix).expandtabs(4).strip("\n").rstrip()


def is_code(text: str) -> bool:
    """Return whether a fix is code to paste, and not a sentence."""
    sentence = text.endswith("。") or (" " in text and text.endswith((".", "!")))
    return "\n" in text or not sentence


def summary(check: Check, *, every: bool = True) -> list[str]:
    """Return a few plain lines: where the runs diverge, with `every` rung, and the causes."""
    if check.ladder is None:
        return []
    lines = []
    first = ladder.lead(check)
    if first:
        lines.append(f"first difference: {first}")
    for row in ladder.rows(check.ladder):
        if every or row.first:
            lines.append(joined(", ", f"  {row.name}: {row.status}", row.where))
    for cause in check.causes:
        lines.append(joined(", ", f"cause: {cause_title(cause)}", origin(cause.source)))
    return lines


def cited_entries(check: Check) -> tuple[Entry, ...]:
    """Return the entries of the causes, in their order, each once.

    None of a code that is not in the catalogue any more.
    """
    found = map(rules.find, dict.fromkeys(cause.code for cause in check.causes))
    return tuple(map(translated, filter(None, found)))[:MOST_ENTRIES]


def cited_codes(check: Check) -> frozenset[str]:
    """Return the codes of the catalogue entries that a check cites."""
    return frozenset(known.code for known in cited_entries(check))


def rules_of_causes(check: Check) -> Section | None:
    """Return the catalogue entries of the causes; None if there are none."""
    best = check.causes[0].code if check.causes else ""
    blocks = [
        RuleEntry(
            code=entry.code,
            name=entry.name,
            why=entry.why,
            shows=entry.shows,
            target="cause" if entry.code == best else "causes",
            rung=entry.rung if check.ladder is not None else "",
        )
        for entry in cited_entries(check)
    ]
    return section("rules", tr("Rules"), blocks, detail=True)
