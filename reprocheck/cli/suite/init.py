"""`reprocheck suite init`: a table of targets from the scripts in a folder."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument, option
from reprocheck.errors import UsageError

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.targets.scripts import Script
    from reprocheck.suite.targets.target_table import Named

EXAMPLE = '[[target]]\nname = "resnet"\nrun = "train.py --epochs 1"'


def command(
    folder: Annotated[
        Path,
        argument(metavar="[FOLDER]", help="Where to look for scripts."),
    ] = Path(),
    dry_run: Annotated[
        bool, option("--dry-run", help="Print the table, and write nothing.")
    ] = False,
) -> int:
    """Find training scripts, and add those that no target starts yet to the settings file."""
    from reprocheck.cli.terminal import standard_error, standard_output
    from reprocheck.suite.targets import target_table

    here = Path.cwd()
    where = (here / folder).resolve()
    if not where.is_dir():
        raise UsageError(f"There is no folder {folder}.", "Name the folder of your scripts.")
    file, suite = target_table.of_new_targets(here)
    targets = suite.targets if suite else ()
    found = _found(where, file.parent)
    new = target_table.without_target(found, targets)
    if not new:
        standard_output().paragraph(f"{_counted(len(found))}, and {file.name} names all of them.")
        return 0
    named = target_table.named(new, where, [target.name for target in targets])
    text = target_table.tables(named, file, with_suite=suite is None)
    if dry_run:
        standard_output().data(text.encode())
        standard_error().paragraph(f"{os.path.relpath(file)} was not written.", style="dim")
        return 0
    target_table.append(text, file)
    _print(standard_output(), named, file)
    return 0


def _found(folder: Path, start: Path) -> list[Script]:
    """Return the scripts below the folder. Raises UsageError if there is none."""
    from reprocheck.suite.targets import scripts

    found = scripts.below(folder, start)
    if not found:
        raise UsageError(
            f"There is no training script below {folder}: none imports a framework and trains.",
            f"Name yours in reprocheck.toml:\n{EXAMPLE}",
        )
    return found


def _print(out: Stream, named: Sequence[Named], file: Path) -> None:
    from rich.table import Table

    out.paragraph(f"{_counted(len(named))} added to {os.path.relpath(file)}:")
    table = Table.grid(padding=(0, 2, 0, 0))
    for target in named:
        table.add_row(out.text(target.name, "cyan"), out.text(shlex.join(target.script.words)))
    out.draw(table, indent=2)
    out.line()
    out.paragraph("Add their arguments and tags there, remove what is no target; then:")
    out.line("  reprocheck suite list")
    out.line("  reprocheck suite run")


def _counted(count: int) -> str:
    if count == 1:
        return "1 training script"
    return f"{count} training scripts"
