"""`reprocheck suite COMMAND`: many targets, checked every night.

One module a command, as beside this folder; each is imported when it is asked for.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from reprocheck.cli.overview import table
from reprocheck.cli.parameters import HELP_NAMES, OneCommand

COMMANDS = {
    "init": "Write a table of targets from the scripts in a folder.",
    "list": "List the targets.",
    "run": "Check all targets, and report what changed since the last nights.",
    "show": "Show a night, or a target in it.",
    "report": "Draw the pages of the suite again, without running.",
    "history": "Print or export what was recorded.",
    "baseline": "Accept, show, compare, reset, import or export baselines.",
    "diff": "Compare what the targets compute at two revisions of the code.",
    "bisect": "Find the commit or package since which a target differs.",
    "merge": "Join the shards of a night.",
    "prune": "Show or remove what is kept no longer.",
    "backup": "Copy the history, also while a night is under way.",
    "doctor": "Look whether the history is whole, and what takes room.",
}
EXAMPLES = (
    "reprocheck suite init",
    "reprocheck suite run --jobs 4",
    "reprocheck suite history resnet",
    'reprocheck suite baseline accept resnet --why "another cuDNN"',
)


class Suite(TyperGroup):
    """Group the commands of the suite, each made only on request."""

    def get_help(self, ctx: Any) -> str:
        """Return the overview of the suite's commands."""
        return help_text()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the table."""
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        return _made(cmd_name)


@cache
def _made(name: str) -> Any:
    """Make a command from its module, in which `command` is its function or its group."""
    module = import_module(f"reprocheck.cli.suite.{name}")
    if isinstance(module.command, typer.Typer):
        return typer.main.get_command(module.command)
    alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    alone.command(name, cls=OneCommand, help=COMMANDS[name], context_settings=HELP_NAMES)(
        module.command
    )
    return typer.main.get_command(alone)


def group() -> Any:
    """Return the group of commands behind `reprocheck suite`."""
    made = typer.Typer(
        name="suite",
        cls=Suite,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings=HELP_NAMES,
    )

    @made.callback(invoke_without_command=True)
    def suite(ctx: typer.Context) -> None:
        """Check many targets every night, and report what changed."""
        if ctx.invoked_subcommand is None:
            typer.echo(help_text())

    return typer.main.get_command(made)


def help_text() -> str:
    """Return what `reprocheck suite` prints without a command, 80 columns wide."""
    return "\n".join(
        [
            "Usage: reprocheck suite COMMAND [ARGS]...",
            "",
            "  Checks all targets of a settings file, keeps what came of it, and reports what",
            "  changed since the nights before.",
            "",
            "Commands:",
            *table(COMMANDS),
            "",
            "Examples:",
            *(f"  {example}" for example in EXAMPLES),
            "",
            "`reprocheck suite COMMAND --help` lists the options of one.",
        ]
    )
