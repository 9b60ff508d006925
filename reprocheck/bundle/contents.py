"""The files of an attachment, each drawn from a check of which what must not leave is taken out."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from types import MappingProxyType

from reprocheck import replay
from reprocheck.bundle import manifest, source
from reprocheck.bundle.manifest import Subject, in_plain_words
from reprocheck.language import count
from reprocheck.model import Check
from reprocheck.redaction import Redaction, redacted
from reprocheck.replay.values import NAME as VALUES_OF_TENSORS
from reprocheck.report import FORMATS, issue, ladder, losses, smallest_command, to_json
from reprocheck.report.formats import Sheet
from reprocheck.report.markdown import document
from reprocheck.wording.verdict import titled

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of every file: the earliest that a zip can say."""


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of these files, sorted by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # Unix, whatever made it
            archive.writestr(entry, data)
    return buffer.getvalue()


LEAST = 10
"""Iterations that are kept in any case, so that a check of very many ranks shows its first ones."""
AROUND = 5
"""Iterations before and after one that the verdict names."""


def kept(check: Check, most: int) -> Sequence[int] | None:
    """Return the iterations (from 1) that are kept so that at most about `most` values are.

    None for all.
    """
    longest = max((run.longest for run in check.runs), default=0)
    values = sum(run.recorded_losses for run in check.runs)
    values += sum(len(series) for trace in check.traces for series in trace.series)
    room = max(LEAST, most * longest // max(1, values))
    if values <= most or room >= longest:
        return None
    first = range(1, room // 2 + 1)
    named = [*_around(check, longest)]
    others = max(1, room - len(first) - len(named))
    step = max(1, ceil((longest - len(first)) / others))
    spaced = range(len(first) + step, longest + 1, step)
    return sorted({*first, *named, *spaced, longest})


def _around(check: Check, longest: int) -> Iterator[int]:
    """Yield the iterations that the verdict names, with those beside them."""
    verdict = check.verdict
    places = [row.first_outside for row in verdict.differing_series[:LEAST]]
    named = [row.iteration for row in verdict.comparisons[:LEAST]]
    named += [place.iteration for place in filter(None, places)]
    named += filter(None, (verdict.diverges_from, verdict.bitwise.first_iteration))
    for iteration in named:
        yield from range(max(1, iteration - AROUND), min(longest, iteration + AROUND) + 1)


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
    """Return the attachment of a check, with recorded `tensors` and the user's files if given."""
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
        zipped = packed(files)
        if len(zipped) <= LARGEST + len(files.get(VALUES_OF_TENSORS, b"")):
            break
    return Bundle(redact=redact, files=dict(sorted(files.items())), zipped=zipped, counts=counts)


def of_pages(subject: Subject, pages: Mapping[str, bytes], redaction: Redaction) -> Bundle:
    """Return the attachment of what has pages alone, such as a check of a resume."""
    counts, redact = +redaction.counts, manifest.way(redaction)
    files = {**pages, "README.md": b""}
    files["README.md"] = document(manifest.lines(subject, files, counts, redact)).encode()
    zipped = packed(files)
    return Bundle(redact=redact, files=dict(sorted(files.items())), zipped=zipped, counts=counts)


def _subject(shown: Check, kept: Sequence[int] | None) -> Subject:
    """Return what the attachment of a check is about.

    `kept`: the iterations of losses.csv; None for all.
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
    """Return report.html of a check of which nothing more is to be taken out."""
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
    """Return a script that runs the differing operation alone, and the values that it reads.

    Nothing if no such script can be made.
    """
    script = replay.script(shown)
    if script is None:
        return {}
    values = {VALUES_OF_TENSORS: tensors} if tensors else {}
    return {replay.NAME: script.encode(), **values}
