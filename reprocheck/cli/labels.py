"""Rows of a label and a text: the form of everything that follows a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprocheck.language import tr
from reprocheck.report.label_rows import label_rows

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.report.blocks import Block

INDENT = 2


@dataclass(frozen=True, slots=True)
class Labels:
    """Labelled rows on a stream, the labels in a column of `width`."""

    out: Stream
    width: int

    def row(self, label: str, text: str, style: str = "dim") -> None:
        """`label` in a style, and the text wrapped beside it."""
        self.out.labelled(tr(label), text, style, indent=INDENT, label_width=self.width)

    def column(self, label: str, texts: Iterable[str], style: str = "dim") -> None:
        """Several texts below each other, beside one label."""
        for text in texts:
            self.row(label, text, style)
            label = ""

    def blocks(self, blocks: Iterable[Block]) -> None:
        """Blocks of a report, each as its rows."""
        for row in label_rows(blocks):
            if row.code:
                self.out.line(f"{' ' * INDENT}{tr(row.label)}", "dim")
                self.code(row.text, "cyan")
            else:
                self.row(row.label, row.text, "bold" if row.strong else "dim")

    def code(self, text: str, styles: str | dict[str, str] = "") -> None:
        """Lines to copy, as they stand; `styles`: one, or that of each first character."""
        for line in text.split("\n"):
            style = styles if isinstance(styles, str) else styles.get(line[:1], "")
            self.out.line(f"    {line}".rstrip(), style)
