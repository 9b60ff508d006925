"""Two revisions compared: as a comment of a pull request, as annotations, as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from reprocheck.language import count
from reprocheck.redaction import Redaction, redacted
from reprocheck.report.markdown import Markdown, block, document, md, row
from reprocheck.suite.diff.result import EXIT_CODES, Compared, TargetDiff
from reprocheck.suite.model import Night, NightReport, ShownTarget, TargetReport, TargetState
from reprocheck.suite.pages import github, words

MOST_DRIFT = 8
"""Series of a target whose differences are said one by one."""


def headline(compared: Compared) -> str:
    """Say how many targets have which outcome: `3 targets: 1 differs, 2 equal`."""
    counts = ", ".join(f"{number} {word}" for word, number in compared.counts.items())
    return f"{count(len(compared.targets), 'target')}: {counts}"


def sentence(target: TargetDiff, compared: Compared) -> str:
    """Say in one sentence what came of a target."""
    if target.reason:
        return target.reason.partition("\n")[0]
    if not target.drift:
        return "every recorded value is equal in every bit"
    said = [words.drift(one, compared.first.shown) for one in target.drift[:MOST_DRIFT]]
    if len(target.drift) > MOST_DRIFT:
        said.append(f"{len(target.drift) - MOST_DRIFT} more series differ")
    return "; ".join(said)


def _markdown(compared: Compared) -> bytes:
    first, second = compared.first.shown, compared.second.shown
    parts: list[str] = [
        md("### reprocheck: {} → {}", first, second),
        "",
        md("**{}**", headline(compared)),
        "",
        row(("target", "outcome", "what differs", "changed line")),
        Markdown("|---|---|---|---|"),
    ]
    for one in compared.targets:
        said = one.operation or sentence(one, compared)
        outcome = one.outcome if one.outcome == "equal" else md("**{}**", one.outcome)
        parts.append(row((one.target, outcome, said, one.suspect.source)))
    for one in compared.targets:
        if one.outcome != "equal":
            parts += ("", *_section(one, compared))
    return document(parts).encode()


def _section(target: TargetDiff, compared: Compared) -> Iterator[str]:
    yield from (md("#### {}: {}", target.target, target.outcome), "")
    yield md("- {}", sentence(target, compared))
    if target.operation:
        yield md("- {}", target.operation)
    if target.suspect.diff:
        yield from ("", *block(target.suspect.diff, "diff"))


def _annotations(compared: Compared) -> bytes:
    """Return an error for each target that differs or failed, at the changed line."""
    reports = [
        TargetReport(
            name=one.target,
            target=ShownTarget(script=one.script, folder=one.folder),
            state=TargetState(
                night="",
                target=one.target,
                state="drift" if one.drift else "new failure",
                failed=True,
                sentence=". ".join(filter(None, (sentence(one, compared), one.operation))),
                suspect=one.suspect,
            ),
        )
        for one in compared.targets
        if EXIT_CODES[one.outcome]
    ]
    return github.render(NightReport(night=Night(id="", started=0.0), targets=tuple(reports)))


def _json(compared: Compared) -> bytes:
    return msgspec.json.format(msgspec.json.encode(compared)) + b"\n"


_FORMATS: Mapping[str, Callable[[Compared], bytes]] = {
    "json": _json,
    "md": _markdown,
    "github": _annotations,
}


def render(compared: Compared, format: str) -> bytes:
    """Return the comparison in one of the formats `json`, `md` and `github`."""
    return _FORMATS[format](redacted(compared, Redaction("folder")))
