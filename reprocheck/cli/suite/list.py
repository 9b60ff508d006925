"""`reprocheck suite list`: the targets."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument, option
from reprocheck.errors import UsageError

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.target import Target
    from reprocheck.suite.targets import Suite

FORMATS = ("text", "json", "sbatch")
GAP = 2
"""Columns between those of the table."""
WIDEST_NAME = 34
WIDEST_NOTE = 20
"""Columns of the table; what is longer goes on in the next row."""
NARROWEST_RUN = 12


def command(
    names: Annotated[
        list[str] | None,
        argument(metavar="[TARGET]...", help="Targets by name or pattern (`resnet*`). [all]"),
    ] = None,
    tag: Annotated[
        list[str] | None,
        option("--tag", metavar="TAG", help="Those with this tag; may be given again."),
    ] = None,
    shard: Annotated[
        str,
        option("--shard", metavar="I/N", help="The I-th of N shares."),
    ] = "",
    format: Annotated[
        str,
        option("--format", metavar="|".join(FORMATS), help="How to print them. [text]"),
    ] = "text",
) -> int:
    """List the targets, and say where a script or folder of one of them is not there."""
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite.targets import load, missing

    if format not in FORMATS:
        raise UsageError(
            f"--format {format}: list has no such format.", "Take text, json or sbatch."
        )
    suite = load(Path.cwd())
    targets = suite.select(names or (), tag or ())
    if shard:
        targets = _share(suite, targets, shard)
    out = standard_output()
    if format == "json":
        document = {
            "file": os.path.relpath(suite.file),
            "folder": os.path.relpath(suite.folder),
            "targets": [_row(target) for target in targets],
        }
        out.data(f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode())
    elif format == "sbatch":
        out.data("".join(f"{_sbatch(target)}\n" for target in targets).encode())
    else:
        _print(out, suite, targets)
    for error in filter(None, map(missing, targets)):
        raise error
    return 0


def _share(suite: Suite, targets: tuple[Target, ...], shard: str) -> tuple[Target, ...]:
    """Return the targets that `suite run --shard` would check now."""
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.history.errors import NoHistoryError
    from reprocheck.suite.night.plan import share_of_night
    from reprocheck.suite.night.run import draft
    from reprocheck.suite.targets.shares import share

    try:
        with open_suite(suite, create=False) as history:
            night = draft(suite, history, shard, "local")
            return share_of_night(targets, night, history).targets
    except NoHistoryError:
        return share(targets, shard, {}).targets


def _print(out: Stream, suite: Suite, targets: Sequence[Target]) -> None:
    from rich.table import Table

    where = _folders(targets, suite)
    rows = [
        (target.name, _run(target) + folder, _note(target))
        for target, folder in zip(targets, where, strict=True)
    ]
    # commands get the columns that names and notes leave
    longest = [max(map(len, column), default=1) for column in zip(*rows, strict=True)]
    name, run, note = longest or (1, 1, 1)
    name = min(name, WIDEST_NAME)
    note = min(note, WIDEST_NOTE)
    run = max(NARROWEST_RUN, min(run, out.width - name - note - 3 * GAP))
    table = Table.grid(padding=(0, GAP, 0, 0))
    table.add_column(width=name, style="cyan", overflow="fold")
    table.add_column(width=run, overflow="fold")
    table.add_column(width=note, style="dim", overflow="fold")
    for row in rows:
        table.add_row(*map(out.text, row))
    out.draw(table)
    out.line()
    number = f"{len(targets)}"
    if len(targets) < len(suite.targets):
        number = f"{len(targets)} of {len(suite.targets)}"
    out.paragraph(f"{number} targets in {os.path.relpath(suite.file)}", style="dim")


def _run(target: Target) -> str:
    """Format a target's command as typed in a shell."""
    words = target.words
    if words[0] == "--":
        words = words[1:]
    from reprocheck.suite.reports import masked

    return shlex.join(masked(words))


def _sbatch(target: Target) -> str:
    """Return the options of `sbatch` for a job that checks the target, without spaces in any."""
    from reprocheck.suite.targets import folder_name

    needs = target.needs
    words = [
        f"--job-name={folder_name(target.name)}",
        f"--nodes={needs.nodes}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={max(1, ceil(needs.cpus))}",
    ]
    if needs.gpus:
        words.append(f"--gpus-per-node={needs.gpus}")
    if needs.npus:
        words.append(f"--gres=npu:{needs.npus}")
    if needs.minutes:
        words.append(f"--time={needs.minutes}")
    return " ".join(words)


def _folders(targets: Sequence[Target], suite: Suite) -> list[str]:
    """Return the folder in which each target starts; nothing if all start in the same folder."""
    if len({target.workdir for target in targets}) < 2:
        return [""] * len(targets)
    base = suite.file.parent
    shown = [os.path.relpath(target.workdir, base) for target in targets]
    return [f" in {folder}" * (folder != ".") for folder in shown]


def _note(target: Target) -> str:
    """Format the target's tags, accelerators and expected verdict, if it has any."""
    parts = [*target.tags]
    if target.needs.gpus:
        parts.append(f"{target.needs.gpus} GPU")
    if target.needs.npus:
        parts.append(f"{target.needs.npus} NPU")
    if target.needs.nodes > 1:
        parts.append(f"{target.needs.nodes} nodes")
    if target.resume is not None:
        parts.append("resume")
    if target.expect != "reproducible":
        parts.append("expected to differ")
    return ", ".join(parts)


def _row(target: Target) -> dict[str, object]:
    from reprocheck.redaction import Redaction
    from reprocheck.suite.reports import masked

    resume: dict[str, object] | None = None
    if target.resume is not None:
        shown = Redaction("folder").command
        resume = {
            name: shown(value) if isinstance(value, str) else value
            for name, value in target.resume.items()
        }
    variables = [f"{name}={value}" for name, value in target.environment.items()]
    return {
        "name": target.name,
        "run": list(masked(target.words)),
        "folder": os.path.relpath(target.workdir),
        "environment": dict(word.split("=", 1) for word in masked(variables)),
        "options": dict(target.options),
        "expect": target.expect,
        "allow": target.allow,
        "tags": list(target.tags),
        "needs": asdict(target.needs),
        "matrix": dict(target.values),
        "resume": resume,
    }
