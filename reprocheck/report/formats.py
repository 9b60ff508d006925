"""The table of formats, and writing them into a report folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from reprocheck import replay
from reprocheck.errors import ReportError
from reprocheck.model import Check
from reprocheck.redaction import Redaction, redacted, redaction_of
from reprocheck.report import (
    charts,
    content,
    document,
    drawings,
    html,
    issue,
    junit,
    losses,
    markdown,
)
from reprocheck.report.curves import Curves, curves
from reprocheck.wording.verdict import titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reprocheck.settings import Draw


class Sheet:
    """A check as the report formats show it, with values that several formats need, computed once.

    leaving   the redacted check that may be sent away, if it was made before
    """

    def __init__(self, check: Check, *, leaving: Check | None = None) -> None:
        self._whole = check
        self._leaving = leaving
        self.check = leaving or titled(redacted(check, Redaction("folder")))

    @property
    def issue(self) -> str:
        """The text that the page copies for an issue: only content that may leave the machine."""
        if self._leaving is not None:
            return issue.text(self._leaving)
        return issue.text(titled(redacted(self._whole, redaction_of(self._whole, "paste"))))

    @cached_property
    def curves(self) -> Curves:
        """Curves of all runs."""
        return curves(self.check)

    @cached_property
    def loss(self) -> Figure:
        """The loss chart."""
        return charts.loss_figure(self.curves)

    @property
    def page(self) -> bytes:
        """The content of report.html."""
        drawn = drawings.drawings(self.check, self.curves)
        report = content.report(self.check, drawn)
        return html.render(report, self.issue, data=drawings.data(drawn))


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """A report format: its name, its file, a function that renders it in pieces.

    Also which checks have such a file, and whether it is a picture, which takes longer than all
    others.
    """

    name: str
    filename: str
    chunks: Callable[[Sheet], Iterable[bytes]]
    wanted: Callable[[Check], bool] = lambda check: True
    picture: bool = False

    def render(self, check: Check) -> bytes:
        """Return the whole file.

        No clock, no environment, no network: the same bytes for the same check.
        """
        return b"".join(self.chunks(Sheet(check)))


_ALL = (
    Format(
        name="json", filename="report.json", chunks=lambda sheet: [document.render(sheet.check)]
    ),
    Format(name="junit", filename="junit.xml", chunks=lambda sheet: [junit.render(sheet.check)]),
    Format(
        name="md",
        filename="report.md",
        chunks=lambda sheet: [markdown.render(content.report(sheet.check, curves=sheet.curves))],
    ),
    Format(name="csv", filename="losses.csv", chunks=lambda sheet: losses.chunks(sheet.check)),
    Format(
        name="svg",
        filename="loss.svg",
        chunks=lambda sheet: [charts.svg(sheet.loss).encode()],
        picture=True,
    ),
    Format(
        name="png",
        filename="loss.png",
        chunks=lambda sheet: [charts.png(sheet.loss)],
        picture=True,
    ),
    Format(
        name="difference",
        filename="difference.png",
        chunks=lambda sheet: [charts.png(charts.difference_figure(sheet.curves))],
        picture=True,
    ),
    Format(
        name="html",
        filename="report.html",
        chunks=lambda sheet: [sheet.page],
    ),
    Format(
        name="replay",
        filename=replay.NAME,
        chunks=lambda sheet: [(replay.script(sheet.check) or "").encode()],
        wanted=lambda check: replay.script(check) is not None,
    ),
)
FORMATS: Mapping[str, Format] = {form.name: form for form in _ALL}
"""Name of a format -> the format. To add one, add a line above."""


def names(check: Check, draw: Draw) -> list[str]:
    """Return the formats that the setting `draw` asks for.

    `failure`, its default, leaves the pictures of a check that passes to `reprocheck report`.
    """
    if draw is False:
        return ["json"]
    has_pictures = draw is True or not check.verdict.plainly_passes
    return [name for name, form in FORMATS.items() if has_pictures or not form.picture]


def write(check: Check, folder: Path, formats: Iterable[str] | None = None) -> None:
    """Write the formats (names in FORMATS, all by default) into an existing folder.

    No file is replaced before all are written. Raises ReportError if the folder cannot be written
    or the disk is full.
    """
    sheet = Sheet(check)
    done: list[tuple[Path, Path]] = []
    try:
        for name in FORMATS if formats is None else formats:
            form = FORMATS[name]
            if not form.wanted(check):
                continue
            draft = folder / f".{form.filename}.{token_hex(4)}"
            done.append((draft, folder / form.filename))
            with draft.open("wb") as file:
                file.writelines(form.chunks(sheet))
        for draft, final in done:
            draft.replace(final)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ReportError(f"the report cannot be written to {folder}: {reason}", _FIX) from None
    finally:
        for draft, _ in done:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


_FIX = (
    "Free some space or choose another folder with --output; the recorded traces are kept,"
    " `reprocheck report` draws them again."
)


def warm_up(draw: Draw) -> None:
    """Import what every report takes, in a thread while runs are under way.

    For pictures that are drawn in any case, a throw-away figure is drawn.
    """
    import numpy  # noqa: F401

    if draw is False:
        return
    html.ready()
    if draw is True:
        charts.warm_up()
