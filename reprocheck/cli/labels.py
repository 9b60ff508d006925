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
    """Print labelled rows on a stream, with labels in a column of `width` characters."""

    out: Stream
    width: int

    def row(self, label: str, text: str, style: str = "dim") -> None:
        """Print `label`, and the text in `style` wrapped beside it."""
        self.out.labelled(tr(label), text, style, indent=INDENT, label_width=self.width)

    def column(self, label: str, texts: Iterable[str], style: str = "dim") -> None:
        """Print several texts below each other, beside one label."""
        for text in texts:
            self.row(label, text, style)
            label = ""

    def blocks(self, blocks: Iterable[Block]) -> None:
        """Print the blocks of a report, each as labelled rows."""
        for row in label_rows(blocks):
            if row.code:
                self.out.line(f"{' ' * INDENT}{tr(row.label)}", "dim")
                self.code(row.text, "cyan")
            else:
                self.row(row.label, row.text, "bold" if row.strong else "dim")

    def code(self, text: str, styles: str | dict[str, str] = "") -> None:
        """Print lines unchanged, to be copied.

        `styles`: one style, or a style for each first character.
        """
        for line in text.split("\n"):
            style = styles if isinstance(styles, str) else styles.get(line[:1], "")
            self.out.line(f"    {line}".rstrip(), style)
