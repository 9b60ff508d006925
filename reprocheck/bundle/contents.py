"""The files of an attachment, each drawn from a check of which what must not leave is taken out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType

from reprocheck import replay
from reprocheck.bundle import archive, manifest, source
from reprocheck.bundle.loss_selection import kept
from reprocheck.bundle.manifest import Subject
from reprocheck.bundle.plain_words import in_plain_words
from reprocheck.language import count
from reprocheck.model import Check
from reprocheck.redaction import Redaction, redacted
from reprocheck.replay.values import NAME as VALUES_OF_TENSORS
from reprocheck.report import FORMATS, issue, ladder, losses, smallest_command, to_json
from reprocheck.report.formats import Sheet
from reprocheck.report.markdown import document
from reprocheck.wording.verdict import titled

LARGEST = 2_000_000
"""Bytes of a zip: most mail and trackers take it, and GitHub far more (25 MB)."""
VALUES = 60_000
"""Losses and values of series in `losses.csv` at most, and in `report.json` a third of them."""
CUTS = 4
"""How often they are halved where the zip is larger."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """An attachment: its files by name, and the zip of them.

    redact    how strictly, as `--redact` is asked for it
    counts    what was taken out, by kind
    """

    redact: str
    files: Mapping[str, bytes]
    zipped: bytes
    counts: Mapping[str, int]


def made(
    check: Check,
    redaction: Redaction,
    tensors: bytes = b"",
    texts: Mapping[str, str] = MappingProxyType({}),
) -> Bundle:
    """Return the attachment of a check, with the recorded values of `tensors` and the user's files
    where they are given.
    """
    shown = redacted(check, redaction)
    if redaction.strict:
        shown = in_plain_words(shown)
    shown = titled(shown)
    if not tensors:
        shown = _without_values(shown)
    files = {
        "issue.md": issue.text(shown, source=bool(texts)).encode(),
        "report.html": page(shown),
        **_replay(shown, tensors),
        **source.files(texts, redaction),
        **source.logs(shown.runs),
    }
    counts, redact = +redaction.counts, manifest.way(redaction)
    for cut in range(CUTS):
        values = VALUES >> cut
        files |= _losses(shown, values)
        subject = _subject(shown, kept(shown, values))
        lines = manifest.lines(subject, files, counts, redact)
        files["README.md"] = document(lines).encode()
        zipped = archive.packed(files)
        if len(zipped) <= LARGEST + len(files.get(VALUES_OF_TENSORS, b"")):
            break
    return Bundle(redact=redact, files=dict(sorted(files.items())), zipped=zipped, counts=counts)


def of_pages(subject: Subject, pages: Mapping[str, bytes], redaction: Redaction) -> Bundle:
    """Return the attachment of what has pages alone, such as a check of a resume."""
    counts, redact = +redaction.counts, manifest.way(redaction)
    files = {**pages, "README.md": b""}
    files["README.md"] = document(manifest.lines(subject, files, counts, redact)).encode()
    zipped = archive.packed(files)
    return Bundle(redact=redact, files=dict(sorted(files.items())), zipped=zipped, counts=counts)


def _subject(shown: Check, kept: Sequence[int] | None) -> Subject:
    """Return what the attachment of a check is about; `kept`: the iterations of losses.csv, None
    for all.
    """
    losses = ""
    if kept is not None:
        longest = max((run.longest for run in shown.runs), default=0)
        iterations = count(len(kept), "iteration")
        losses = (
            f"{iterations} of {longest:,}: the first ones, those around the first difference, the"
            " last, and evenly spaced ones between"
        )
    cited = [cause.source for cause in shown.causes]
    cited += [finding.source for finding in shown.scanned.findings]
    cited += [rung.source for rung in shown.ladder.rungs] if shown.ladder else []
    diffs = [shown.search.patch] if shown.search else []
    diffs += [source.diff for source in shown.between.sources] if shown.between else []
    return Subject(
        title=shown.verdict.title,
        where=ladder.lead(shown) or shown.verdict.reason,
        command=smallest_command.command(shown),
        cited=filter(None, cited),
        diffs=diffs,
        losses=losses,
    )


def page(shown: Check) -> bytes:
    """report.html of a check of which nothing more is to be taken out."""
    return b"".join(FORMATS["html"].chunks(Sheet(shown, leaving=shown)))


def _losses(shown: Check, values: int) -> dict[str, bytes]:
    """Return the files that hold losses, with at most about so many values."""
    fields, iterations = to_json(shown), kept(shown, values // 3)
    if iterations is not None:
        wanted = frozenset(iterations)
        for rank in chain.from_iterable(run["ranks"] for run in fields["runs"]):
            rank["iterations"] = [row for row in rank["iterations"] if row["iteration"] in wanted]
    text = json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False)
    return {
        "losses.csv": b"".join(losses.chunks(shown, kept(shown, values))),
        "report.json": f"{text}\n".encode(),
    }


def _without_values(shown: Check) -> Check:
    """Return the check without the values of what it replays, as these are not sent."""
    ladder = shown.ladder
    if ladder is None or ladder.replay is None:
        return shown
    return replace(shown, ladder=replace(ladder, replay=replace(ladder.replay, values=())))


def _replay(shown: Check, tensors: bytes) -> dict[str, bytes]:
    """Return the script that runs the operation which differs alone, where one can be made, and the
    values that it reads.
    """
    script = replay.script(shown)
    if script is None:
        return {}
    values = {VALUES_OF_TENSORS: tensors} if tensors else {}
    return {replay.NAME: script.encode(), **values}
