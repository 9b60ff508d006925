"""annotations.txt: a line a target for the annotations of GitHub Actions.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from posixpath import normpath

from reprocheck.model import SourceLine
from reprocheck.report.text import line
from reprocheck.suite.model import NightReport, TargetReport
from reprocheck.suite.pages import words

MOST = 10
"""Annotations of each level that GitHub shows for a step
(https://github.com/orgs/community/discussions/26680).
"""
_WARNED = ("intermittent", "known issue", "moved", "slower", "larger", "expected drift", "gone")
"""States that are worth a line where they do not fail the night."""
_IN_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES = _IN_DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render(report: NightReport) -> bytes:
    """Return the annotation lines, to be printed in a CI step: errors first, then warnings."""
    checked = [target for target in report.targets if not target.last_checked]
    failed = [target for target in checked if target.failed]
    warned = [target for target in checked if not target.failed and target.word in _WARNED]
    lines = [*_level("error", failed), *_level("warning", warned)]
    return "".join(f"{line(text)}\n" for text in lines).encode()


def _level(level: str, targets: Sequence[TargetReport]) -> Iterator[str]:
    """Yield one annotation per target; beyond the limit, only a count of the rest."""
    shown = targets
    if len(targets) > MOST:
        shown = targets[: MOST - 1]
    yield from (_line(level, one) for one in shown)
    more = len(targets) - len(shown)
    if more:
        title = f"{more:,} more targets".translate(_IN_PROPERTIES)
        names = ", ".join(target.name for target in targets[len(shown) :][:MOST])
        said = f"{more:,} more, among them {names}. The summary of the job has all."
        yield f"::{level} title={title}::{said.translate(_IN_DATA)}"


def _line(level: str, target: TargetReport) -> str:
    properties = {"title": f"{target.name}: {target.word}"}
    place = _place(target)
    if place is not None:
        properties = {"file": place.file, "line": str(place.line), **properties}
    written = ",".join(
        f"{name}={value.translate(_IN_PROPERTIES)}" for name, value in properties.items()
    )
    said = [words.sentence(target)]
    if target.state is not None:
        suspect = target.state.suspect
        said += (suspect.source, *suspect.changed, *suspect.commits[: words.MOST_COMMITS])
    text = "\n".join(filter(None, said)).translate(_IN_DATA)
    return f"::{level} {written}::{text}"


def _place(target: TargetReport) -> SourceLine | None:
    """Return the line at which an annotation stands.

    It is the changed line that is suspected, else the line of the first cause, else the first line
    of the script; None if none is known.

    The path is relative to the repository.
    """
    if target.target is None:
        return None
    named = [check.source for check in reversed(target.attempts) if not check.good]
    if target.state is not None:
        named.insert(0, target.state.suspect.source)
    cause = next((source for text in named if (source := SourceLine.of(text))), None)
    if cause is not None and target.target.folder:
        return replace(cause, file=normpath(f"{target.target.folder}/{cause.file}"))
    if not target.target.script:
        return None
    return SourceLine(file=target.target.script, line=1)
